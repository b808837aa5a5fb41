import {
  CapsReached,
  ClicksTaken,
  ClickTotals,
  NOTICES_PER_MESSAGE,
} from "../../schemas/events/click-notice.ts";
import type { Lanes } from "../../schemas/events/lanes.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { LocalClickState } from "../decide/click-state.ts";
import { type NoticeKind, type NoticeMetrics, noticeMetrics } from "./metrics.ts";

export type ClickNoticesOptions = {
  readonly link: NatsLink;
  readonly state: LocalClickState;
  readonly producer: number;
  readonly lanes: Lanes;
  readonly registry: Metrics;
  readonly log: Log;
};

/** Delay until the other processes know of a click, without the time on the network. */
const PUBLISH_MS = 200;
/** Records that a killed process had journaled reach the writers only after its restart, so ask once more. */
const ASK_AGAIN_MS = 3_000;

/**
 * Keeps the click state of this process close to the state of all processes: receives the notices of the click writers, the conversion
 * processors and the other ingress processes, and publishes its own clicks. Nothing waits for these messages: while NATS is away, the state
 * is what this process counted itself and what others reported before.
 */
export class ClickNotices {
  readonly #options: ClickNoticesOptions;
  readonly #metrics: NoticeMetrics;
  #timer: NodeJS.Timeout | undefined;
  /** Monotonic ms; undefined while NATS is away. */
  #connectedAtMs: number | undefined;
  #asked: "not" | "once" | "twice" = "not";
  #totalsReportedAtMs: number | undefined;
  #capsReportedAtMs: number | undefined;
  /** Lanes that have not reported their totals since this process asked. */
  readonly #silentLanes: Set<number>;
  #areCapsReported = false;
  #settle: () => void = () => undefined;
  /** Settles when, since the first request, every writer has reported its totals and a processor the reached caps. */
  readonly reported = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(options: ClickNoticesOptions) {
    this.#options = options;
    this.#silentLanes = new Set(options.lanes.clicks);
    this.#metrics = noticeMetrics(options.registry, {
      totalsReportedAtMs: () => this.#totalsReportedAtMs,
      capsReportedAtMs: () => this.#capsReportedAtMs,
      unpublishedLost: () => options.state.unpublishedLost,
    });
  }

  /** Call it before the link is started. */
  start(): void {
    this.#options.link.onConnection((nats) => {
      this.#follow(nats);
      this.#tick();
    });
    this.#timer = setInterval(() => this.#tick(), PUBLISH_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    // Publishes the clicks of this process's last moments.
    this.#tick();
  }

  #follow({ connection, subjects }: Nats): void {
    const { state } = this.#options;
    const sentByUs = subjects.clicksTaken(String(this.#options.producer));
    this.#take(connection, subjects.clickTotals, "totals", (message) => {
      const { lane, lanes, totals, isWhole } = ClickTotals.parse(message.json());
      this.#totalsReportedAtMs = performance.now();
      for (const total of totals) state.noteTotal(lane, total, lanes);
      if (isWhole) this.#silentLanes.delete(lane);
      this.#noteReported();
      return totals.length;
    });
    this.#take(connection, subjects.capsReached, "reached", (message) => {
      const { reached, isWhole, isLast } = CapsReached.parse(message.json());
      this.#capsReportedAtMs = performance.now();
      for (const cap of reached) state.noteReached(cap);
      if (isLast) state.noteRound();
      this.#areCapsReported ||= isWhole;
      this.#noteReported();
      return reached.length;
    });
    this.#take(connection, subjects.allClicksTaken, "taken", (message) => {
      if (message.subject === sentByUs) return 0;
      const taken = ClicksTaken.parse(message.json());
      for (const click of taken) state.noteTaken(click);
      return taken.length;
    });
  }

  #noteReported(): void {
    if (this.#silentLanes.size === 0 && this.#areCapsReported) this.#settle();
  }

  #take(
    connection: Nats["connection"],
    subject: string,
    kind: NoticeKind,
    take: (message: { readonly subject: string; json(): unknown }) => number,
  ): void {
    const { log } = this.#options;
    connection.subscribe(subject, {
      callback: (error, message) => {
        if (error !== null) {
          log.error({ err: error, kind }, "notices.subscription-failed");
          return;
        }
        try {
          this.#metrics.received.add(take(message), { kind });
        } catch (fault) {
          this.#metrics.undecodable.add();
          log.error({ err: fault, kind }, "notices.undecodable");
        }
      },
    });
  }

  #tick(): void {
    const nats = this.#options.link.current();
    if (nats === undefined || nats.connection.isClosed()) {
      this.#connectedAtMs = undefined;
      this.#asked = "not";
      return;
    }
    try {
      this.#ask(nats);
      this.#publish(nats);
    } catch (error) {
      // The connection ended just now.
      this.#options.log.warn({ err: error }, "notices.not-published");
    }
  }

  #ask({ connection, subjects }: Nats): void {
    const nowMs = performance.now();
    this.#connectedAtMs ??= nowMs;
    const isDue =
      this.#asked === "not" ||
      (this.#asked === "once" && nowMs - this.#connectedAtMs >= ASK_AGAIN_MS);
    if (!isDue) return;
    connection.publish(subjects.clickNoticesRequest);
    this.#asked = this.#asked === "not" ? "once" : "twice";
  }

  #publish({ connection, subjects }: Nats): void {
    const taken = this.#options.state.takeUnpublished();
    if (taken.length === 0) return;
    const subject = subjects.clicksTaken(String(this.#options.producer));
    for (let from = 0; from < taken.length; from += NOTICES_PER_MESSAGE) {
      const page = taken.slice(from, from + NOTICES_PER_MESSAGE);
      connection.publish(subject, JSON.stringify(page));
    }
    this.#metrics.published.add(taken.length);
  }
}

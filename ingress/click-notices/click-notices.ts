import {
  CapsReached,
  ClicksTaken,
  ClickTotals,
  NOTICES_A_MESSAGE,
} from "../../schemas/events/click-notice.ts";
import { CLICK_LANES } from "../../schemas/events/shards.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Metrics } from "../../schemas/host/metrics.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { LocalClickState } from "../decide/click-state.ts";
import type { NatsLink } from "../nats-link.ts";
import { type NoticeKind, type NoticeMetrics, noticeMetrics } from "./metrics.ts";

export type ClickNoticesOptions = {
  readonly link: NatsLink;
  readonly state: LocalClickState;
  readonly producer: number;
  readonly registry: Metrics;
  readonly log: Log;
};

/** How long the others do not know of a click, besides the way to them. */
const TELL_MS = 200;
/** What a killed process had journaled reaches the writers after it was started again. */
const ASK_AGAIN_MS = 3_000;

/**
 * Keeps the click state of this process near that of all: takes what the click writers, the conversion processors and the other
 * ingress processes tell, and tells them of its own clicks. Nothing waits for it: while NATS is away the state is what this
 * process knows by itself and what it was told before.
 */
export class ClickNotices {
  readonly #options: ClickNoticesOptions;
  readonly #metrics: NoticeMetrics;
  #timer: NodeJS.Timeout | undefined;
  /** Monotonic ms; undefined while NATS is away. */
  #connectedAtMs: number | undefined;
  #asked: "not" | "once" | "twice" = "not";
  #totalsHeardAtMs: number | undefined;
  #capsHeardAtMs: number | undefined;
  /** Lanes that have not reported their totals since this process asked. */
  readonly #silentLanes = new Set(CLICK_LANES);
  #hasHeardCaps = false;
  #settle: () => void = () => undefined;
  /** Settles when every writer has reported its totals, and the reached caps were reported, since this process asked first. */
  readonly heard = new Promise<void>((resolve) => {
    this.#settle = resolve;
  });

  constructor(options: ClickNoticesOptions) {
    this.#options = options;
    this.#metrics = noticeMetrics(options.registry, {
      totalsHeardAtMs: () => this.#totalsHeardAtMs,
      capsHeardAtMs: () => this.#capsHeardAtMs,
      untoldLost: () => options.state.untoldLost,
    });
  }

  /** To be called before the link is started. */
  start(): void {
    this.#options.link.onConnection((nats) => {
      this.#follow(nats);
      this.#tick();
    });
    this.#timer = setInterval(() => this.#tick(), TELL_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    // The visitors of this process's last moments come back to the others.
    this.#tick();
  }

  #follow({ connection, subjects }: Nats): void {
    const { state } = this.#options;
    const own = subjects.clicksTaken(String(this.#options.producer));
    this.#take(connection, subjects.clickTotals, "totals", (message) => {
      const { lane, totals, isWhole } = ClickTotals.parse(message.json());
      this.#totalsHeardAtMs = performance.now();
      for (const total of totals) state.noteTotal(lane, total);
      if (isWhole) this.#silentLanes.delete(lane);
      this.#noteHeard();
      return totals.length;
    });
    this.#take(connection, subjects.capsReached, "reached", (message) => {
      const { reached, isWhole } = CapsReached.parse(message.json());
      this.#capsHeardAtMs = performance.now();
      for (const cap of reached) state.noteReached(cap);
      this.#hasHeardCaps ||= isWhole;
      this.#noteHeard();
      return reached.length;
    });
    this.#take(connection, subjects.allClicksTaken, "taken", (message) => {
      if (message.subject === own) return 0;
      const taken = ClicksTaken.parse(message.json());
      for (const click of taken) state.noteTaken(click);
      return taken.length;
    });
  }

  #noteHeard(): void {
    if (this.#silentLanes.size === 0 && this.#hasHeardCaps) this.#settle();
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
          this.#metrics.heard(kind, take(message));
        } catch (fault) {
          this.#metrics.undecodable();
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
      this.#tell(nats);
    } catch (error) {
      // The connection ended just now.
      this.#options.log.warn({ err: error }, "notices.not-told");
    }
  }

  #ask({ connection, subjects }: Nats): void {
    const nowMs = performance.now();
    this.#connectedAtMs ??= nowMs;
    const isDue =
      this.#asked === "not" ||
      (this.#asked === "once" && nowMs - this.#connectedAtMs >= ASK_AGAIN_MS);
    if (!isDue) return;
    connection.publish(subjects.clickNoticesWanted);
    this.#asked = this.#asked === "not" ? "once" : "twice";
  }

  #tell({ connection, subjects }: Nats): void {
    const taken = this.#options.state.takeUntold();
    if (taken.length === 0) return;
    const subject = subjects.clicksTaken(String(this.#options.producer));
    for (let from = 0; from < taken.length; from += NOTICES_A_MESSAGE) {
      const page = taken.slice(from, from + NOTICES_A_MESSAGE);
      connection.publish(subject, JSON.stringify(page));
    }
    this.#metrics.told(taken.length);
  }
}

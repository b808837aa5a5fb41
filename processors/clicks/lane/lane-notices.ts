import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import {
  type ClickTaken,
  type ClickTotal,
  NOTICES_A_MESSAGE,
} from "../../../schemas/events/click-notice.ts";
import type { Log } from "../../../schemas/host/log.ts";
import type { Nats } from "../../../schemas/nats/connect.ts";
import type { Clock } from "../../../schemas/time/clock.ts";
import { selectCapClicks } from "../caps/stored-cap-clicks.ts";
import { selectTakers } from "../caps/stored-takers.ts";
import type { Intake } from "../intake/intake.ts";

export type LaneNoticesDeps = {
  readonly nats: Nats;
  readonly clickhouse: Clickhouse;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
  readonly intake: Intake;
  readonly lane: number;
  /** Whether the lane is still ours. */
  readonly isHeld: () => boolean;
};

/** Totals below their limit are told every fourth time. */
const TELL_MS = 250;
const TELLS_A_MINOR = 4;
const TELLS_A_WHOLE = 20;
const FOLLOW_MS = 1_000;
const RETRY_MS = 5_000;

/**
 * Tells ingress of one lane's clicks: totals of click caps from memory, and to an ingress that asks, who took an offer lately.
 * A failure here delays notices and never a click's row.
 */
export class LaneNotices {
  readonly #deps: LaneNoticesDeps;
  #timer: NodeJS.Timeout | undefined;
  #wanted: { unsubscribe(): void } | undefined;
  #tells = 0;
  #isWholeWanted = false;
  #isTellingTakers = false;
  #loadAfterMs = Number.NEGATIVE_INFINITY;

  constructor(deps: LaneNoticesDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { nats, log } = this.#deps;
    this.#timer = setInterval(() => this.#tick(), TELL_MS);
    this.#wanted = nats.connection.subscribe(nats.subjects.clickNoticesWanted, {
      callback: (error) => {
        if (error !== null) {
          log.error({ err: error }, "clicks.notices-subscription-failed");
          return;
        }
        this.#isWholeWanted = true;
        void this.#tellTakers();
      },
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#wanted?.unsubscribe();
  }

  /**
   * Begins to count for caps that are new. Asks ClickHouse for them, and so may be called only while nothing is being inserted
   * and everything accepted is known to be stored or not.
   */
  async refresh(): Promise<void> {
    const { catalog, clickhouse, clock, intake, lane, log } = this.#deps;
    const monotonicMs = performance.now();
    if (monotonicMs < this.#loadAfterMs) return;
    this.#loadAfterMs = monotonicMs + FOLLOW_MS;
    intake.caps.follow(catalog);
    const { unloaded } = intake.caps;
    if (unloaded.length === 0) return;
    try {
      const nowMs = clock.nowMs();
      const stored = await selectCapClicks(clickhouse, lane, unloaded, nowMs);
      intake.caps.load(stored, { batches: intake.batches, nowMs });
      log.info({ caps: stored.size }, "clicks.caps-counted");
    } catch (error) {
      this.#loadAfterMs = performance.now() + RETRY_MS;
      log.warn({ err: error, caps: unloaded.length }, "clicks.caps-not-counted");
    }
  }

  /** After clicks were accepted: what has just been reached is told at once. */
  accepted(): void {
    if (this.#deps.intake.caps.hasReached) this.#tellTotals({ minor: false, whole: false });
  }

  #tick(): void {
    this.#tells += 1;
    const isDue = this.#tells % TELLS_A_WHOLE === 0;
    const whole = isDue || this.#isWholeWanted;
    this.#isWholeWanted = false;
    this.#tellTotals({ minor: this.#tells % TELLS_A_MINOR === 0, whole });
  }

  #tellTotals(which: { minor: boolean; whole: boolean }): void {
    const { nats, clock, intake, lane, isHeld } = this.#deps;
    if (!isHeld() || nats.connection.isClosed()) return;
    const news = intake.caps.news(clock.nowMs(), which);
    // An empty one says that the lane is counted.
    const pages: ClickTotal[][] = which.whole && news.length === 0 ? [[]] : pagesOf(news);
    const isAll = which.whole && intake.caps.unloaded.length === 0;
    for (const [index, totals] of pages.entries()) {
      const isWhole = isAll && index === pages.length - 1;
      const body = JSON.stringify({ lane, totals, isWhole });
      nats.connection.publish(nats.subjects.clickTotals, body);
    }
  }

  /** Of several that ask while an answer is made, all have it: everybody hears it. */
  async #tellTakers(): Promise<void> {
    const { nats, clickhouse, catalog, clock, lane, log } = this.#deps;
    if (this.#isTellingTakers) return;
    this.#isTellingTakers = true;
    try {
      const takers = await selectTakers(clickhouse, catalog, lane, clock.nowMs());
      if (nats.connection.isClosed()) return;
      const subject = nats.subjects.clicksTaken(`writer-${lane}`);
      // The oldest first, so that a memory that is too small keeps the newest.
      for (const page of pagesOf<ClickTaken>(takers.reverse())) {
        nats.connection.publish(subject, JSON.stringify(page));
      }
    } catch (error) {
      log.warn({ err: error }, "clicks.takers-not-told");
    } finally {
      this.#isTellingTakers = false;
    }
  }
}

function pagesOf<Notice>(notices: readonly Notice[]): Notice[][] {
  const pages: Notice[][] = [];
  for (let from = 0; from < notices.length; from += NOTICES_A_MESSAGE) {
    pages.push(notices.slice(from, from + NOTICES_A_MESSAGE));
  }
  return pages;
}

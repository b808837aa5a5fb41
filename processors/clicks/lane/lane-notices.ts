import { capBucketRange } from "../../../schemas/catalog/cap-bucket.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { clickhouseCode } from "../../../schemas/clickhouse/errors.ts";
import {
  type ClickTaken,
  type ClickTotal,
  NOTICES_PER_MESSAGE,
} from "../../../schemas/events/click-notice.ts";
import type { RoleDeps } from "../../role-deps.ts";
import { type CapSpan, selectCapClicks, spansOf } from "../caps/stored-cap-clicks.ts";
import type { Intake } from "../intake/intake.ts";
import { LaneMoney } from "./lane-money.ts";
import type { LaneRows } from "./lane-rows.ts";
import { selectTakenClicks } from "./stored-taken-clicks.ts";

export type LaneNoticesDeps = Pick<RoleDeps, "pool" | "nats" | "catalog" | "clock" | "log"> & {
  readonly rows: LaneRows;
  readonly intake: Intake;
  readonly lane: number;
  /** Whether this process still holds the lane. */
  readonly isHeld: () => boolean;
};

/** Changed totals that reached a limit are published every 250 ms, other changed totals every second, and all totals every 5 s. */
const PUBLISH_MS = 250;
const MINOR_TOTALS_EVERY = 4;
const ALL_TOTALS_EVERY = 20;
const REFRESH_MS = 1_000;
/** Inserts wait while stored clicks are counted: after 5 s no further query begins, and after 10 s the last one ends. */
const COUNT_BEGIN_MS = 5_000;
const COUNT_END_MS = 10_000;
/** Pause of a query that failed: short if ClickHouse is away, long if the query is too slow or too large. */
const RETRY_AWAY_MS = 5_000;
const RETRY_MS = 60_000;

/**
 * Publishes notices about one lane's clicks to ingress: totals of click caps, from memory, and on request the latest clicks on offers
 * that refuse duplicates. A failure here delays notices, but never the row of a click.
 */
export class LaneNotices {
  readonly #deps: LaneNoticesDeps;
  readonly #money: LaneMoney;
  #timer: NodeJS.Timeout | undefined;
  #requests: { unsubscribe(): void } | undefined;
  #ticks = 0;
  #isWholeRequested = false;
  #isPublishingTaken = false;
  #loadAfterMs = Number.NEGATIVE_INFINITY;
  /** When a query that failed may be repeated, by the key of its span. */
  readonly #retryAtMs = new Map<string, number>();

  constructor(deps: LaneNoticesDeps) {
    this.#deps = deps;
    this.#money = new LaneMoney(deps);
  }

  start(): void {
    const { nats, log } = this.#deps;
    this.#money.start();
    this.#timer = setInterval(() => this.#tick(), PUBLISH_MS);
    this.#requests = nats.connection.subscribe(nats.subjects.clickNoticesRequest, {
      callback: (error) => {
        if (error !== null) {
          log.error({ err: error }, "clicks.notices-subscription-failed");
          return;
        }
        this.#isWholeRequested = true;
        void this.#publishTakenClicks();
      },
    });
  }

  close(): void {
    this.#money.close();
    clearInterval(this.#timer);
    this.#requests?.unsubscribe();
  }

  /**
   * Starts to count clicks for new caps. Queries ClickHouse for them, so it may be called only while nothing is being inserted and the
   * outcome of all inserts is known. The next call goes on with the caps that this call did not reach.
   */
  async refresh(): Promise<void> {
    const { catalog, intake } = this.#deps;
    const startedMs = performance.now();
    if (startedMs < this.#loadAfterMs) return;
    this.#loadAfterMs = startedMs + REFRESH_MS;
    intake.caps.follow(catalog, intake.share.lanes);
    await this.#money.refresh();
    for (const span of spansOf(intake.caps.unloaded)) {
      if (performance.now() >= startedMs + COUNT_BEGIN_MS) return;
      if (startedMs < (this.#retryAtMs.get(span.key) ?? startedMs)) continue;
      await this.#count(span, startedMs + COUNT_END_MS);
    }
  }

  async #count(span: CapSpan, untilMs: number): Promise<void> {
    const { rows, clock, intake, log } = this.#deps;
    const nowMs = clock.nowMs();
    try {
      const { fromMs } = capBucketRange(span.period, span.timezone, nowMs);
      const servers = await serversSince(rows, intake, fromMs);
      const stored = await selectCapClicks(servers, intake.share.sources, span, {
        nowMs,
        untilMs,
      });
      intake.caps.load(stored, { batches: intake.batches, nowMs });
      this.#retryAtMs.delete(span.key);
      log.info({ span: span.key, caps: stored.size }, "clicks.caps-counted");
    } catch (error) {
      const endedMs = performance.now();
      const isAway = clickhouseCode(error) === "" && endedMs < untilMs;
      this.#retryAtMs.set(span.key, endedMs + (isAway ? RETRY_AWAY_MS : RETRY_MS));
      log.warn({ err: error, span: span.key, caps: span.caps.length }, "clicks.caps-not-counted");
    }
  }

  /** Call it after clicks were accepted. If a total reached its limit, it is published at once. */
  accepted(): void {
    if (this.#deps.intake.caps.hasReached) this.#publishTotals({ minor: false, whole: false });
  }

  #tick(): void {
    this.#ticks += 1;
    const isDue = this.#ticks % ALL_TOTALS_EVERY === 0;
    const whole = isDue || this.#isWholeRequested;
    this.#isWholeRequested = false;
    this.#publishTotals({ minor: this.#ticks % MINOR_TOTALS_EVERY === 0, whole });
  }

  #publishTotals(which: { minor: boolean; whole: boolean }): void {
    const { nats, clock, intake, lane, isHeld } = this.#deps;
    if (!isHeld() || nats.connection.isClosed()) return;
    const news = intake.caps.totalsToReport(clock.nowMs(), which);
    // A message without totals says that the lane has no clicks to report.
    const pages: ClickTotal[][] = which.whole && news.length === 0 ? [[]] : pagesOf(news);
    // As in the totals: they follow the share of the lane a second later.
    const lanes = intake.caps.lanes || intake.share.lanes.count;
    const isAll = which.whole && intake.caps.unloaded.length === 0;
    for (const [index, totals] of pages.entries()) {
      const isWhole = isAll && index === pages.length - 1;
      const body = JSON.stringify({ lane, lanes, totals, isWhole });
      nats.connection.publish(nats.subjects.clickTotals, body);
    }
  }

  /** Publishes the latest clicks. One answer is enough for several processes that ask at the same time: all of them receive it. */
  async #publishTakenClicks(): Promise<void> {
    const { nats, rows, catalog, clock, lane, intake, log } = this.#deps;
    if (this.#isPublishingTaken) return;
    this.#isPublishingTaken = true;
    try {
      const scope = { catalog, share: intake.share, lane };
      // Shards that do not answer are not needed: an ingress that misses old clicks takes some more duplicates for new clicks.
      const servers = (await rows.everywhere()).map(({ clickhouse }) => clickhouse);
      const taken = await selectTakenClicks(servers, scope, clock.nowMs());
      if (nats.connection.isClosed()) return;
      const subject = nats.subjects.clicksTaken(`writer-${lane}`);
      // Oldest first, so that a receiver with too little memory keeps the newest.
      for (const page of pagesOf<ClickTaken>(taken.reverse())) {
        nats.connection.publish(subject, JSON.stringify(page));
      }
    } catch (error) {
      log.warn({ err: error }, "clicks.taken-clicks-not-published");
    } finally {
      this.#isPublishingTaken = false;
    }
  }
}

/** @throws while a shard does not answer that may have clicks since `fromMs` */
async function serversSince(
  rows: LaneRows,
  { share }: Intake,
  fromMs: number,
): Promise<readonly Clickhouse[]> {
  const servers = await rows.everywhere();
  await rows.assertWhole(servers, share.sources, fromMs);
  return servers.map(({ clickhouse }) => clickhouse);
}

function pagesOf<Notice>(notices: readonly Notice[]): Notice[][] {
  const pages: Notice[][] = [];
  for (let from = 0; from < notices.length; from += NOTICES_PER_MESSAGE) {
    pages.push(notices.slice(from, from + NOTICES_PER_MESSAGE));
  }
  return pages;
}

import { capBucketRange } from "../../../schemas/catalog/cap-bucket.ts";
import type { RoleDeps } from "../../role-deps.ts";
import { noteClickMoney } from "../caps/note-click-money.ts";
import { type MoneySpan, moneySpansOf, selectClickMoney } from "../caps/stored-click-money.ts";
import type { Intake } from "../intake/intake.ts";
import type { LaneRows } from "./lane-rows.ts";

type LaneMoneyDeps = Pick<RoleDeps, "pool" | "clock" | "log"> & {
  readonly rows: LaneRows;
  readonly intake: Intake;
  /** Whether this process still holds the lane. */
  readonly isHeld: () => boolean;
};

/** Changed totals are stored twice a second, so that caps learn of clicks within the time of click caps; all totals every 30 s. */
const NOTE_MS = 500;
const ALL_EVERY = 60;
/** Inserts wait while stored clicks are read: after 5 s no further query begins, and after 10 s the last one ends. */
const READ_BEGIN_MS = 5_000;
const READ_END_MS = 10_000;
const RETRY_MS = 5_000;

/**
 * Stores what the clicks of one lane cost in Postgres, where caps of payout and revenue are checked (G232). A failure here delays the totals,
 * but never the row of a click: they are absolute, and the next owner of the lane reads them from the clicks again.
 */
export class LaneMoney {
  readonly #deps: LaneMoneyDeps;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #isWholeWanted = true;
  #noting: Promise<void> | undefined;
  readonly #retryAtMs = new Map<string, number>();

  constructor(deps: LaneMoneyDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tick(), NOTE_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Reads stored clicks of offers that are new, or whose period has begun. Call it only while nothing is being inserted and the outcome of all
   * inserts is known.
   */
  async refresh(): Promise<void> {
    const { clock, intake } = this.#deps;
    const startedMs = performance.now();
    for (const span of moneySpansOf(intake.caps.money.unloaded(clock.nowMs()))) {
      if (performance.now() >= startedMs + READ_BEGIN_MS) return;
      if (startedMs < (this.#retryAtMs.get(span.key) ?? startedMs)) continue;
      await this.#read(span, startedMs + READ_END_MS);
    }
  }

  async #read(span: MoneySpan, untilMs: number): Promise<void> {
    const { rows, clock, intake, log } = this.#deps;
    const nowMs = clock.nowMs();
    try {
      const { fromMs } = capBucketRange(span.period, span.timezone, nowMs);
      const servers = await rows.everywhere();
      await rows.assertWhole(servers, intake.share.sources, fromMs);
      const stored = await selectClickMoney(
        servers.map(({ clickhouse }) => clickhouse),
        intake.share.sources,
        span,
        { nowMs, untilMs },
      );
      intake.caps.money.load(span.counted, stored, { batches: intake.batches, nowMs });
      this.#retryAtMs.delete(span.key);
    } catch (error) {
      this.#retryAtMs.set(span.key, performance.now() + RETRY_MS);
      log.warn({ err: error, span: span.key }, "clicks.cap-money-not-read");
    }
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % ALL_EVERY === 0) this.#isWholeWanted = true;
    if (this.#noting !== undefined || !this.#deps.isHeld()) return;
    this.#noting = this.#note().finally(() => (this.#noting = undefined));
  }

  /** Never rejects. */
  async #note(): Promise<void> {
    const { pool, clock, intake, log } = this.#deps;
    const whole = this.#isWholeWanted;
    this.#isWholeWanted = false;
    try {
      await noteClickMoney(pool, intake.caps.money.totals(clock.nowMs(), whole));
    } catch (error) {
      this.#isWholeWanted = true;
      log.warn({ err: error }, "clicks.cap-money-not-noted");
    }
  }
}

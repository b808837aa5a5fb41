import type { Log } from "../../../schemas/host/log.ts";
import type { Intake } from "../intake/intake.ts";
import type { LaneRows } from "../lane/lane-rows.ts";
import type { ClickMetrics } from "../metrics.ts";
import { SKEW_MS } from "../rows/present-time.ts";
import { loadUniques } from "./stored-uniques.ts";

const FOLLOW_MS = 1_000;
const RETRY_MS = 5_000;
/**
 * Shortest time between two reads because of a clock, so that a clock that jumps back and forth cannot keep a lane from inserting. In
 * between, visits in the future count as of now.
 */
const CLOCK_MS = 30_000;

/**
 * Keeps visits for the longest `unique_click_hours` of all offers, also when that changes. Reads them from the table again when some
 * are in the future: their clock was ahead and has gone back.
 */
export class UniqueWindow {
  readonly #rows: LaneRows;
  readonly #metrics: Pick<ClickMetrics, "clockWentBack">;
  readonly #intake: Intake;
  readonly #log: Log;
  #lookAtMs = Number.NEGATIVE_INFINITY;
  #clockAfterMs = Number.NEGATIVE_INFINITY;

  constructor(
    of: { readonly rows: LaneRows; readonly metrics: Pick<ClickMetrics, "clockWentBack"> },
    intake: Intake,
    log: Log,
  ) {
    this.#rows = of.rows;
    this.#metrics = of.metrics;
    this.#intake = intake;
    this.#log = log;
  }

  async load(): Promise<void> {
    await loadUniques(this.#rows, this.#intake);
  }

  /**
   * Reacts to a longer window and to a clock that went back. May be called only while nothing is being inserted, so that every click
   * accepted meanwhile is in a batch or in the answer. A failure delays both by 5 s.
   */
  async refresh(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + FOLLOW_MS;
    const { uniques, uniqueWindowMsMax: windowMs } = this.#intake;
    const isLonger = windowMs > uniques.retentionMs;
    if (!isLonger) uniques.retentionMs = windowMs;
    const aheadMs = uniques.latestMs - this.#intake.clocksAt(nowMs).newestMs;
    const isAhead = aheadMs > SKEW_MS && nowMs >= this.#clockAfterMs;
    if (!isLonger && !isAhead) return;
    try {
      await this.load();
      const { size: visits } = this.#intake.uniques;
      if (isLonger) this.#log.info({ windowMs, visits }, "clicks.window-longer");
      if (!isAhead) return;
      this.#clockAfterMs = performance.now() + CLOCK_MS;
      this.#metrics.clockWentBack.add();
      this.#log.warn({ aheadMs, visits }, "clicks.clock-went-back");
    } catch (error) {
      this.#lookAtMs = performance.now() + RETRY_MS;
      this.#log.warn({ err: error, windowMs, aheadMs }, "clicks.visits-not-read");
    }
  }
}

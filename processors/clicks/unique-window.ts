import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import type { Log } from "../../schemas/host/log.ts";
import type { Intake } from "./intake.ts";
import { loadUniques } from "./stored-uniques.ts";

const FOLLOW_MS = 1_000;
const RETRY_MS = 5_000;

/** Keeps the memory of visits as long as the longest `unique_click_hours` of all offers, also when that changes. */
export class UniqueWindow {
  readonly #clickhouse: Clickhouse;
  readonly #intake: Intake;
  readonly #log: Log;
  #lookAtMs = Number.NEGATIVE_INFINITY;

  constructor(clickhouse: Clickhouse, intake: Intake, log: Log) {
    this.#clickhouse = clickhouse;
    this.#intake = intake;
    this.#log = log;
  }

  async load(): Promise<void> {
    await loadUniques(this.#clickhouse, this.#intake);
  }

  /**
   * Takes over a window that has become longer: what it lacks is read from the table. To be called only while nothing is being
   * inserted, so that every click accepted meanwhile is in a batch or in the answer. A failure delays the longer window by 5 s.
   */
  async refresh(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + FOLLOW_MS;
    const { uniques, uniqueWindowMsMax: windowMs } = this.#intake;
    if (windowMs <= uniques.retentionMs) {
      uniques.retentionMs = windowMs;
      return;
    }
    try {
      await this.load();
      this.#log.info({ windowMs, visits: this.#intake.uniques.size }, "clicks.window-longer");
    } catch (error) {
      this.#lookAtMs = performance.now() + RETRY_MS;
      this.#log.warn({ err: error, windowMs }, "clicks.window-not-longer");
    }
  }
}

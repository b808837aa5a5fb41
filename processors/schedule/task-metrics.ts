import type { Metrics } from "../../schemas/host/metrics.ts";
import type { ScheduledTask } from "../../schemas/host/processors-metrics.ts";
import { systemClock } from "../../schemas/time/clock.ts";

/** A task that is due more often is late only after a minute: metrics are read every 15 s or so. */
const INTERVAL_SECONDS_MIN = 60;

/** What the tasks of this process have done, and when each last succeeded. */
export class TaskMetrics {
  readonly #counters: ReturnType<typeof declareCounters>;
  readonly #tasks = new Map<ScheduledTask, { readonly everySeconds: number; atSeconds: number }>();

  constructor(metrics: Metrics) {
    this.#counters = declareCounters(metrics);
    metrics.gauges("schedule_last_success_seconds", () =>
      [...this.#tasks].map(([task, { atSeconds }]) => [{ task }, atSeconds]),
    );
    metrics.gauges("schedule_interval_seconds", () =>
      [...this.#tasks].map(([task, { everySeconds }]) => [{ task }, everySeconds]),
    );
  }

  /** This process runs the task, whenever it gets the task's lease. */
  expect(task: ScheduledTask, everyMs: number): void {
    const everySeconds = Math.max(everyMs / 1_000, INTERVAL_SECONDS_MIN);
    this.#tasks.set(task, { everySeconds, atSeconds: nowSeconds() });
  }

  succeeded(task: ScheduledTask, rows: number): void {
    this.#counters.rows.add(rows, { task });
    const known = this.#tasks.get(task);
    if (known !== undefined) known.atSeconds = nowSeconds();
  }

  failed(task: ScheduledTask): void {
    this.#counters.failures.add(1, { task });
  }
}

function declareCounters(metrics: Metrics) {
  return {
    failures: metrics.counter("schedule_failures_total"),
    rows: metrics.counter("schedule_rows_total"),
  };
}

function nowSeconds(): number {
  return systemClock.nowMs() / 1_000;
}

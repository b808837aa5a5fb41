import type { Metrics } from "../../schemas/host/metrics.ts";
import type { ScheduledTask } from "../../schemas/host/processors-metrics.ts";
import { systemClock } from "../../schemas/time/clock.ts";

/** A task that is due more often is late only after a minute: metrics are read every 15 s or so. */
const INTERVAL_SECONDS_MIN = 60;

/** When each task of this process last succeeded, as metrics. */
export class TaskTimes {
  readonly #tasks = new Map<ScheduledTask, { readonly everySeconds: number; atSeconds: number }>();

  constructor(metrics: Metrics) {
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

  note(task: ScheduledTask): void {
    const known = this.#tasks.get(task);
    if (known !== undefined) known.atSeconds = nowSeconds();
  }
}

function nowSeconds(): number {
  return systemClock.nowMs() / 1_000;
}

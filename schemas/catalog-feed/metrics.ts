import type { Counter, Metrics } from "../host/metrics.ts";

/** Declares the gauges of each process that has a catalog, and returns its counter of rewinds. */
export function catalogFeedMetrics(
  metrics: Metrics,
  gauges: {
    readonly version: () => number;
    readonly unreadableRecords: () => number;
    /** Monotonic ms of the last answer of Postgres. */
    readonly answeredAtMs: () => number | undefined;
  },
): Counter {
  metrics.gauge("catalog_version", gauges.version);
  metrics.gauge("catalog_unreadable_records", gauges.unreadableRecords);
  metrics.gauge("catalog_age_seconds", () => {
    const answeredAtMs = gauges.answeredAtMs();
    return answeredAtMs === undefined ? undefined : (performance.now() - answeredAtMs) / 1_000;
  });
  return metrics.counter("catalog_rewinds_total");
}

import type { Metrics } from "../host/metrics.ts";

export type CatalogFeedMetrics = ReturnType<typeof catalogFeedMetrics>;

/** The instruments of each process that has a catalog. */
export function catalogFeedMetrics(
  metrics: Metrics,
  gauges: {
    readonly version: () => number;
    readonly unreadableRecords: () => number;
    /** Monotonic ms of the last answer of Postgres. */
    readonly answeredAtMs: () => number | undefined;
  },
) {
  metrics.gauge("catalog_version", "Version of the catalog in force.", gauges.version);
  metrics.gauge(
    "catalog_unreadable_records",
    "Records in Postgres that this release cannot read; their last readable version is in force.",
    gauges.unreadableRecords,
  );
  metrics.gauge("catalog_age_seconds", "Time since Postgres last said what the catalog is.", () => {
    const answeredAtMs = gauges.answeredAtMs();
    return answeredAtMs === undefined ? undefined : (performance.now() - answeredAtMs) / 1_000;
  });
  return {
    rewinds: metrics.counter(
      "catalog_rewinds_total",
      "Times that a Postgres with another history was found and read from its beginning.",
    ),
  };
}

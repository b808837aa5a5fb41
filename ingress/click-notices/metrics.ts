import type { Metrics } from "../../schemas/host/metrics.ts";

/** Values that are read at each scrape. */
export type NoticeReadings = {
  /** Undefined before the first report. */
  readonly totalsReportedAtMs: () => number | undefined;
  readonly capsReportedAtMs: () => number | undefined;
  readonly unpublishedLost: () => number;
};

export type NoticeKind = "totals" | "taken" | "reached";

export type NoticeMetrics = ReturnType<typeof declareCounters>;

/** Times are monotonic milliseconds. */
export function noticeMetrics(metrics: Metrics, readings: NoticeReadings): NoticeMetrics {
  metrics.gauge("ingress_clicks_unpublished", readings.unpublishedLost);
  // If these two are old, this process counts click caps alone and misses newly reached caps.
  metrics.gauge("ingress_click_totals_age_seconds", () =>
    secondsSince(readings.totalsReportedAtMs()),
  );
  metrics.gauge("ingress_caps_reached_age_seconds", () =>
    secondsSince(readings.capsReportedAtMs()),
  );
  return declareCounters(metrics);
}

function declareCounters(metrics: Metrics) {
  return {
    received: metrics.counter("ingress_notices_received_total"),
    published: metrics.counter("ingress_clicks_published_total"),
    undecodable: metrics.counter("ingress_notices_undecodable_total"),
  };
}

function secondsSince(atMs: number | undefined): number | undefined {
  return atMs === undefined ? undefined : (performance.now() - atMs) / 1_000;
}

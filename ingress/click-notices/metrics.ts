import type { Metrics } from "../../schemas/host/metrics.ts";

/** Values read from the notices of this process at each scrape. */
export type NoticeReadings = {
  /** Undefined before the first. */
  readonly totalsReportedAtMs: () => number | undefined;
  readonly capsReportedAtMs: () => number | undefined;
  readonly unpublishedLost: () => number;
};

export type NoticeKind = "totals" | "taken" | "reached";

export type NoticeMetrics = {
  readonly received: (kind: NoticeKind, notices: number) => void;
  readonly published: (clicks: number) => void;
  readonly undecodable: () => void;
};

/** Times are monotonic milliseconds. */
export function noticeMetrics(metrics: Metrics, readings: NoticeReadings): NoticeMetrics {
  const received = metrics.counter("ingress_notices_heard_total", "Notices received, by kind.");
  const published = metrics.counter("ingress_clicks_told_total", "Clicks published to the others.");
  const dead = metrics.counter("ingress_notices_undecodable_total", "Notices that are unreadable.");
  metrics.gauge(
    "ingress_clicks_untold",
    "Clicks never published to the others, because NATS was away for too long.",
    readings.unpublishedLost,
  );
  // When these two are old, click caps and reached caps are those of this process only.
  metrics.gauge(
    "ingress_click_totals_age_seconds",
    "Since a click writer reported totals, which happens every 5 seconds.",
    () => secondsSince(readings.totalsReportedAtMs()),
  );
  metrics.gauge(
    "ingress_caps_reached_age_seconds",
    "Since a conversion processor reported reached caps, which happens twice a second.",
    () => secondsSince(readings.capsReportedAtMs()),
  );
  return {
    received: (kind, notices) => received.add(notices, { kind }),
    published: (clicks) => published.add(clicks),
    undecodable: () => dead.add(),
  };
}

function secondsSince(atMs: number | undefined): number | undefined {
  return atMs === undefined ? undefined : (performance.now() - atMs) / 1_000;
}

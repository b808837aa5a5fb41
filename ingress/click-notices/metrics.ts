import type { Metrics } from "../../schemas/host/metrics.ts";

/** What is read from the notices of this process when it is asked for. */
export type NoticeReadings = {
  /** Undefined before the first. */
  readonly totalsHeardAtMs: () => number | undefined;
  readonly capsHeardAtMs: () => number | undefined;
  readonly untoldLost: () => number;
};

export type NoticeKind = "totals" | "taken" | "reached";

export type NoticeMetrics = {
  readonly heard: (kind: NoticeKind, notices: number) => void;
  readonly told: (clicks: number) => void;
  readonly undecodable: () => void;
};

/** Times are monotonic milliseconds. */
export function noticeMetrics(metrics: Metrics, readings: NoticeReadings): NoticeMetrics {
  const heard = metrics.counter("ingress_notices_heard_total", "Notices of others, by kind.");
  const told = metrics.counter("ingress_clicks_told_total", "Clicks that the others were told of.");
  const dead = metrics.counter("ingress_notices_undecodable_total", "Notices nobody can read.");
  metrics.gauge(
    "ingress_clicks_untold",
    "Clicks that the others were never told of: there was no NATS for too long.",
    readings.untoldLost,
  );
  // Without these two being young, click caps and reached caps are those of this process alone.
  metrics.gauge(
    "ingress_click_totals_age_seconds",
    "Since a click writer told totals; they do so every 5 seconds.",
    () => secondsSince(readings.totalsHeardAtMs()),
  );
  metrics.gauge(
    "ingress_caps_reached_age_seconds",
    "Since a conversion processor told of reached caps; one does so twice a second.",
    () => secondsSince(readings.capsHeardAtMs()),
  );
  return {
    heard: (kind, notices) => heard.add(notices, { kind }),
    told: (clicks) => told.add(clicks),
    undecodable: () => dead.add(),
  };
}

function secondsSince(atMs: number | undefined): number | undefined {
  return atMs === undefined ? undefined : (performance.now() - atMs) / 1_000;
}

import type { Metrics } from "../../schemas/host/metrics.ts";

export type ConversionMetrics = ReturnType<typeof declareCounters>;

export function conversionMetrics(
  metrics: Metrics,
  read: {
    readonly underWay: Readonly<Record<"known" | "strangers", () => number>>;
    readonly logRowsLost: () => number;
    readonly logRowsMerged: () => number;
  },
): ConversionMetrics {
  metrics.gauge(
    "conversions_under_way",
    "Reports with a token, commands and log rows being worked on.",
    read.underWay.known,
  );
  metrics.gauge(
    "conversions_strangers_under_way",
    "Pixels and look-ups of landing pages being worked on.",
    read.underWay.strangers,
  );
  metrics.gauge(
    "conversions_log_rows_lost",
    "Rows of the inbound log that were dropped.",
    read.logRowsLost,
  );
  metrics.gauge(
    "conversions_log_rows_merged",
    "Refusals without a valid token that share a row of the inbound log, because there were too many for a row each.",
    read.logRowsMerged,
  );
  return declareCounters(metrics);
}

function declareCounters(metrics: Metrics) {
  return {
    reports: metrics.counter(
      "conversions_reports_total",
      "Reports answered, by endpoint and result.",
    ),
    reportSeconds: metrics.histogram(
      "conversions_report_seconds",
      "Time to decide and record a report, by endpoint.",
    ),
    commands: metrics.counter(
      "conversions_commands_total",
      "Commands of the api, by kind of reply.",
    ),
    lookups: metrics.counter(
      "conversions_click_lookups_total",
      "Look-ups of landing pages, by kind of reply.",
    ),
  };
}

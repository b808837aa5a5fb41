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
  metrics.gauge("conversions_under_way", read.underWay.known);
  metrics.gauge("conversions_strangers_under_way", read.underWay.strangers);
  metrics.gauge("conversions_log_rows_lost", read.logRowsLost);
  metrics.gauge("conversions_log_rows_merged", read.logRowsMerged);
  return declareCounters(metrics);
}

function declareCounters(metrics: Metrics) {
  return {
    reports: metrics.counter("conversions_reports_total"),
    reportSeconds: metrics.histogram("conversions_report_seconds"),
    commands: metrics.counter("conversions_commands_total"),
    lookups: metrics.counter("conversions_click_lookups_total"),
  };
}

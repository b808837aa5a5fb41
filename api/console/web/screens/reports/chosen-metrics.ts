import type { ReportAddress } from "../../address/report.ts";
import type { Metric, ReportFields } from "../../client/reports.ts";

/** The metrics that the address names, else the default ones. */
export function chosenMetrics(
  { metrics }: ReportFields,
  { metrics: named }: ReportAddress,
): Metric[] {
  const byName = new Map(metrics.map((one) => [one.name, one]));
  return named.length > 0
    ? named.flatMap((name) => byName.get(name) ?? [])
    : metrics.filter(({ isDefault }) => isDefault);
}

/** What a chart shows: the metric by which the table is sorted, else the first one. */
export function chartedMetric(fields: ReportFields, report: ReportAddress): Metric | undefined {
  const sorted = report.sort.replace(/^-/, "");
  const chosen = chosenMetrics(fields, report);
  return chosen.find(({ name }) => name === sorted) ?? chosen[0];
}

import type { ReportAddress } from "../../address/report.ts";
import type { Metric, ReportFields } from "../../client/reports.ts";

/** The report with the metrics that its address names, else with the usual ones of the role, as far as the member may see them. */
export function withMetrics(
  report: ReportAddress,
  fields: ReportFields,
  usual: readonly string[],
): ReportAddress {
  const named = report.metrics.length > 0 ? report.metrics : usual;
  const known = new Set(fields.metrics.map(({ name }) => name));
  return { ...report, metrics: named.filter((name) => known.has(name)) };
}

/** The metrics of a report, in its order. */
export function chosenMetrics(
  { metrics }: ReportFields,
  { metrics: named }: ReportAddress,
): Metric[] {
  const byName = new Map(metrics.map((one) => [one.name, one]));
  return named.flatMap((name) => byName.get(name) ?? []);
}

/** What a chart shows: the metric by which the table is sorted, else the first one. */
export function chartedMetric(fields: ReportFields, report: ReportAddress): Metric | undefined {
  const sorted = report.sort.replace(/^-/, "");
  const chosen = chosenMetrics(fields, report);
  return chosen.find(({ name }) => name === sorted) ?? chosen[0];
}

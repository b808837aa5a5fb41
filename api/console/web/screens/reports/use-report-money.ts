import { type ReportAddress, reportQuery } from "../../address/report.ts";
import type { ReportFields } from "../../client/reports.ts";
import { type OtherMoneyOf, useOtherMoney } from "../other-money.ts";
import { chosenMetrics } from "./chosen-metrics.ts";

const NONE: readonly string[] = [];

/** Money that the sums of a report leave out: of its rows, and of the report as a whole. */
export function useReportMoney(
  report: ReportAddress,
  fields: ReportFields,
  others: readonly string[],
): { readonly ofRow: OtherMoneyOf; readonly ofTotals: OtherMoneyOf } {
  const { limit: _limit, offset: _offset, ...query } = reportQuery(report);
  const metrics = chosenMetrics(fields, report)
    .filter(({ kind }) => kind === "money")
    .map(({ name }) => name);
  const left = report.period.isConverted ? NONE : others;
  const { groupBy } = report;
  const ofRow = useOtherMoney({
    query,
    groupBy,
    metrics,
    others: groupBy.length > 0 ? left : NONE,
  });
  const ofTotals = useOtherMoney({ query, groupBy: NONE, metrics, others: left });
  return { ofRow, ofTotals };
}

import type { ReactElement } from "react";
import { filterFor } from "../../address/filters.ts";
import { periodParams } from "../../address/period.ts";
import { type Dimension, type ReportRow, useReport } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Bars } from "../../plots/bars.tsx";
import { labelOf } from "../row-label.ts";
import { type ChartParts, filterParams } from "./chart-parts.ts";

const ROWS = 8;
const HEIGHT = 320;

/** The largest values of one dimension. A bar is a filter. */
export function TopBars({
  metric,
  period,
  filters,
  dimension,
  onNarrow,
}: ChartParts & { readonly dimension: Dimension }): ReactElement {
  const membership = useMembership();
  const report = useReport(membership, {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams(filters),
    group_by: dimension.name,
    metrics: metric.name,
    sort: `-${metric.name}`,
    limit: String(ROWS),
  });
  if (report.isError)
    return <ProblemNotice error={report.error} onRetry={() => void report.refetch()} />;
  if (report.data === undefined) return <Skeleton height={HEIGHT} />;
  const rows: readonly ReportRow[] = report.data.data;
  const { currency } = report.data;
  return (
    <Bars
      title={`${metric.label} by ${dimension.label.toLowerCase()}`}
      says={`The ${ROWS} largest`}
      heading={dimension.label}
      valueHeading={metric.label}
      bars={rows.map((row) => ({
        key: filterFor(dimension.name, row[dimension.name]),
        label: labelOf(row, dimension.name),
        value: row[metric.name] ?? null,
      }))}
      format={(value) => formatFigure(value, metric.kind, currency)}
      onPick={(filter) => onNarrow({ filters: [filter] })}
    />
  );
}

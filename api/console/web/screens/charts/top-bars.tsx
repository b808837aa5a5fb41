import type { ReactElement } from "react";
import { filterFor } from "../../address/filters.ts";
import { periodParams } from "../../address/period.ts";
import { type Dimension, useReport } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { Bars } from "../../plots/bars.tsx";
import { labelOf } from "../row-label.ts";
import { drawnValue } from "../why-absent.ts";
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
  return (
    <Awaited asked={report} height={HEIGHT}>
      {({ data, currency }) => (
        <Bars
          title={`${metric.label} by ${dimension.label.toLowerCase()}`}
          says={`The ${ROWS} largest`}
          heading={dimension.label}
          valueHeading={metric.label}
          bars={data.map((row) => ({
            key: filterFor(dimension.name, row[dimension.name]),
            label: labelOf(row, dimension.name),
            value: drawnValue(metric.name, row[metric.name]),
          }))}
          format={(value) => formatFigure(value, metric.kind, currency)}
          onPick={(filter) => onNarrow({ filters: [filter] })}
        />
      )}
    </Awaited>
  );
}

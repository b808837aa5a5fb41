import type { ReactElement } from "react";
import { Link } from "wouter";
import { filterFor } from "../../address/filters.ts";
import { type Period, periodParams } from "../../address/period.ts";
import { type Dimension, type Metric, type ReportRow, useReport } from "../../client/reports.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { formatFigure } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { Change } from "../change.tsx";
import { labelOf } from "../row-label.ts";
import { largestMoves } from "./largest-moves.ts";

const HEIGHT = 170;
const ROWS_READ = 200;
const MOVED = ["offer", "affiliate"];

type Shown = { readonly metric: Metric; readonly period: Period };

/** Which offers and partners changed most against the compared range. */
export function Movers(shown: Shown): ReactElement | null {
  const fields = useNamedFields();
  if (shown.period.compare === undefined) return null;
  return (
    <div className="columns">
      {MOVED.flatMap((name) => fields.data?.dimensions.find((one) => one.name === name) ?? []).map(
        (dimension) => (
          <MoversOf key={dimension.name} {...shown} dimension={dimension} />
        ),
      )}
    </div>
  );
}

function MoversOf({
  metric,
  period,
  dimension: { name: dimension, label },
}: Shown & { readonly dimension: Dimension }): ReactElement {
  const membership = useMembership();
  const query = {
    ...periodParams(period),
    group_by: dimension,
    metrics: metric.name,
    sort: `-${metric.name}`,
    limit: String(ROWS_READ),
  };
  const report = useReport(membership, query, "after");
  const hrefOf = (row: ReportRow): string => {
    const params = {
      ...query,
      group_by: "date",
      sort: "date",
      filters: filterFor(dimension, row[dimension]),
    };
    const { limit: _limit, ...address } = params;
    return `${membership.base}/reports?${new URLSearchParams(address).toString()}`;
  };
  return (
    <section className="panel">
      <header>
        <h2 className="grow">
          Largest changes by {label.toLowerCase()}: {metric.label.toLowerCase()}
        </h2>
      </header>
      <Awaited asked={report} height={HEIGHT}>
        {({ data, currency }) => {
          const moves = largestMoves(data, (row) => [
            row[metric.name],
            row.previous?.[metric.name],
          ]);
          if (moves.length === 0) return <p className="muted">Nothing changed.</p>;
          return (
            <ol className="top-list">
              {moves.map((row) => (
                <li key={String(row[dimension])} className="row wrap">
                  <Link className="grow cell-link" href={hrefOf(row)}>
                    <StrangerText text={labelOf(row, dimension)} />
                  </Link>
                  <strong>{formatFigure(row[metric.name], metric.kind, currency)}</strong>
                  <span className="muted">
                    from {formatFigure(row.previous?.[metric.name], metric.kind, currency)}
                  </span>
                  <Change metric={metric.name} change={row.change?.[metric.name]} />
                </li>
              ))}
            </ol>
          );
        }}
      </Awaited>
    </section>
  );
}

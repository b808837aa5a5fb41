import type { ReactElement } from "react";
import { Link } from "wouter";
import { filterFor } from "../../address/filters.ts";
import { type Period, periodParams } from "../../address/period.ts";
import { type Dimension, type Metric, type ReportRow, useReport } from "../../client/reports.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { StrangerText } from "../../parts/stranger-text.tsx";
import { heightOf } from "../../plots/pixels.ts";
import { ShareBar } from "../../plots/share-bar.tsx";
import { COUNTRIES_MAX } from "../charts/country-map.tsx";
import { type FigureWords, figureWords, Why } from "../figure-text.tsx";
import { labelOf } from "../row-label.ts";

const ROWS = 8;
const HEIGHT = 300;

/** The largest values of one dimension. A row opens the report of that value. */
export function TopList({
  dimension: { name: dimension, label },
  metric,
  period,
}: {
  readonly dimension: Dimension;
  readonly metric: Metric;
  readonly period: Period;
}): ReactElement {
  const membership = useMembership();
  // The map has asked for all countries, and one answer serves both.
  const limit = dimension === "country" ? COUNTRIES_MAX : ROWS;
  const query = {
    ...periodParams({ ...period, compare: undefined }),
    group_by: dimension,
    metrics: metric.name,
    sort: `-${metric.name}`,
    limit: String(limit),
  };
  const report = useReport(membership, query, "after");
  const hrefOf = (row: ReportRow): string => {
    const filters = filterFor(dimension, row[dimension]);
    const params = { ...periodParams(period), group_by: dimension, sort: query.sort, filters };
    return `${membership.base}/reports?${new URLSearchParams(params).toString()}`;
  };
  return (
    <section className="panel">
      <header>
        <h2 className="grow">By {label.toLowerCase()}</h2>
        <Link
          className="button plain"
          href={`${membership.base}/reports?${new URLSearchParams(query).toString()}`}
        >
          All
        </Link>
      </header>
      <Awaited asked={report} height={HEIGHT}>
        {({ data, currency, other_currencies: others }) => {
          const rows = data.slice(0, ROWS);
          const largest = Math.max(0, ...rows.map((row) => heightOf(row[metric.name]) ?? 0));
          const words = (row: ReportRow): FigureWords =>
            figureWords(metric, row, { shown: currency, others }, undefined);
          if (rows.length === 0) return <p className="muted">Nothing in this range.</p>;
          return (
            <ol className="top-list">
              {rows.map((row) => (
                <li key={String(row[dimension])}>
                  <ShareBar value={row[metric.name] ?? null} largest={largest}>
                    <span className="row">
                      <Link className="grow cell-link" href={hrefOf(row)}>
                        <StrangerText text={labelOf(row, dimension)} />
                      </Link>
                      <strong title={words(row).title}>
                        {words(row).text}
                        <Why words={words(row)} />
                      </strong>
                    </span>
                  </ShareBar>
                </li>
              ))}
            </ol>
          );
        }}
      </Awaited>
    </section>
  );
}

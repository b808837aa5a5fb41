import { lazy, type ReactElement, Suspense } from "react";
import { filterFor } from "../../address/filters.ts";
import { periodParams } from "../../address/period.ts";
import { type ReportRow, useReport } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { useMembership } from "../../session/membership.ts";
import { type ChartParts, filterParams } from "./chart-parts.ts";

// Shapes and projection are a chunk of their own.
const WorldMap = lazy(async () => ({
  default: (await import("../../plots/world-map.tsx")).WorldMap,
}));

const HEIGHT = 420;
/** More than there are countries. */
const ROWS_MAX = 300;

/** A metric by country. A country is a filter. */
export function CountryMap({ metric, period, filters, onNarrow }: ChartParts): ReactElement {
  const membership = useMembership();
  const report = useReport(membership, {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams(filters),
    group_by: "country",
    metrics: metric.name,
    sort: `-${metric.name}`,
    limit: String(ROWS_MAX),
  });
  if (report.isError)
    return <ProblemNotice error={report.error} onRetry={() => void report.refetch()} />;
  if (report.data === undefined) return <Skeleton height={HEIGHT} />;
  const rows: readonly ReportRow[] = report.data.data;
  const { currency } = report.data;
  return (
    <Suspense fallback={<Skeleton height={HEIGHT} />}>
      <WorldMap
        title={`${metric.label} by country`}
        says="By the address of the visitor. The stronger the colour, the more."
        figures={rows.map((row) => ({
          country: String(row["country"] ?? ""),
          value: row[metric.name] ?? null,
        }))}
        format={(value) => formatFigure(value, metric.kind, currency)}
        onPick={(country) => onNarrow({ filters: [filterFor("country", country)] })}
      />
    </Suspense>
  );
}

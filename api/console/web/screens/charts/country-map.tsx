import type { ReactElement } from "react";
import { filterFor } from "../../address/filters.ts";
import { periodParams } from "../../address/period.ts";
import { useReport } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { later } from "../../later.tsx";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { drawnValue } from "../why-absent.ts";
import { type ChartParts, filterParams } from "./chart-parts.ts";

const HEIGHT = 420;
// Shapes and projection are a chunk of their own.
const WorldMap = later(
  async () => (await import("../../plots/world-map.tsx")).WorldMap,
  <Skeleton height={HEIGHT} />,
);
/** More than there are countries. */
export const COUNTRIES_MAX = 300;

/** A metric by country. A country is a filter. */
export function CountryMap({ metric, period, filters, onNarrow }: ChartParts): ReactElement {
  const membership = useMembership();
  const query = {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams(filters),
    group_by: "country",
    metrics: metric.name,
    sort: `-${metric.name}`,
    limit: String(COUNTRIES_MAX),
  };
  const report = useReport(membership, query, "after");
  return (
    <Awaited asked={report} height={HEIGHT}>
      {({ data, currency }) => (
        <WorldMap
          title={`${metric.label} by country`}
          says="By the address of the visitor. Darker means more."
          figures={data.map((row) => ({
            country: String(row["country"] ?? ""),
            value: drawnValue(metric.name, row[metric.name]),
          }))}
          format={(value) => formatFigure(value, metric.kind, currency)}
          onPick={(country) => onNarrow({ filters: [filterFor("country", country)] })}
        />
      )}
    </Awaited>
  );
}

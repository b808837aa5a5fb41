import type { ReactElement } from "react";
import { useLocation } from "wouter";
import { filterFor } from "../../address/filters.ts";
import { periodParams } from "../../address/period.ts";
import { rowsBehind } from "../../address/rows-behind.ts";
import { type ReportRow, useReport } from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { formatCount, formatFraction } from "../../format/figure.ts";
import { formatBucket } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { GridPlot } from "../../plots/grid-plot.tsx";
import { heightOf } from "../../plots/pixels.ts";
import { type ChartParts, filterParams } from "./chart-parts.ts";

const HEIGHT = 420;
/** Steps of `conversion_delay`, as the API names and bounds them. */
const STEPS = [
  ["1m", "< 1 min"],
  ["5m", "< 5 min"],
  ["1h", "< 1 h"],
  ["6h", "< 6 h"],
  ["1d", "< 1 day"],
  ["3d", "< 3 days"],
  ["7d", "< 7 days"],
  ["30d", "< 30 days"],
  ["more", "later"],
] as const;
const DAYS_MAX = 31;
const COUNTS = ["conversions", "pending_conversions", "rejected_conversions"];

/** How long conversions come after their clicks, for each day of clicks. A cell opens its conversions. */
export function Delays({ period, filters }: Pick<ChartParts, "period" | "filters">): ReactElement {
  const membership = useMembership();
  const { lists } = useRoleFigures();
  const [, go] = useLocation();
  const report = useReport(membership, {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams([...filters, "conversion_delay:not_empty"]),
    group_by: "date,conversion_delay",
    metrics: COUNTS.join(","),
    date_basis: "click",
    sort: "-date",
    limit: String(DAYS_MAX * (STEPS.length + 1)),
  });
  if (report.data === undefined)
    return (
      <Awaited asked={report} height={HEIGHT}>
        {() => null}
      </Awaited>
    );
  const rows: readonly ReportRow[] = report.data.data;
  const cells = new Map(
    rows.map((row) => [`${row["date"] ?? ""} ${row["conversion_delay"] ?? ""}`, row]),
  );
  const days = [
    ...new Set(rows.filter((row) => totalOf(row) > 0).map((row) => String(row["date"]))),
  ].slice(0, DAYS_MAX);
  return (
    <GridPlot
      title="Conversions by day of the click and delay"
      says={`How long after the click the conversion came, and how many are approved so far. The last ${DAYS_MAX} days with conversions.`}
      rowHeading="Day of the click"
      rows={days.map((day) => formatBucket(day, "day"))}
      columns={STEPS.map(([, words]) => words)}
      cells={days.map((day) => STEPS.map(([step]) => cellOf(cells.get(`${day} ${step}`))))}
      onPick={(row, column) => {
        const [day = "", [step] = [""]] = [days[row], STEPS[column]];
        const behind = rowsBehind({
          lists,
          metric: "every_conversion",
          period: { ...period, range: { from: day, to: day } },
          filters: [...filters, filterFor("conversion_delay", step)],
          dateBasis: "click",
        });
        if (behind.kind === "list") go(membership.base + behind.path);
      }}
    />
  );
}

function totalOf(row: ReportRow | undefined): number {
  return COUNTS.reduce((sum, name) => sum + (heightOf(row?.[name]) ?? 0), 0);
}

function cellOf(row: ReportRow | undefined): { value: number; text: string } {
  const value = totalOf(row);
  if (value === 0) return { value, text: "0" };
  const approved = formatFraction((heightOf(row?.["conversions"]) ?? 0) / value);
  return { value, text: `${formatCount(value)}, ${approved} approved` };
}

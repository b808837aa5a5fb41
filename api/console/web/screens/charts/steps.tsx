import type { ReactElement } from "react";
import { type Period, periodParams } from "../../address/period.ts";
import { rowsBehind } from "../../address/rows-behind.ts";
import { type ReportRow, useReport } from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { Funnel } from "../../plots/funnel.tsx";
import { filterParams } from "./chart-parts.ts";

const HEIGHT = 300;

/** Names of metrics, and what they are called as steps. */
const STEPS = [
  ["impressions", "Impressions"],
  ["clicks", "Clicks"],
  ["unique_clicks", "Unique clicks"],
  ["gross_conversions", "All conversions"],
  ["conversions", "Approved conversions"],
] as const;

/** Metrics that {@link StepsOf} needs. */
export const STEP_METRICS: readonly string[] = STEPS.map(([metric]) => metric);

type StepsProps = {
  readonly period: Period;
  /** In the grammar of the API. */
  readonly filters: readonly string[];
};

/** From visit to conversion. A step opens the rows that it counts. */
export function Steps({ period, filters }: StepsProps): ReactElement {
  const membership = useMembership();
  const report = useReport(membership, {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams(filters),
    metrics: STEP_METRICS.join(","),
  });
  return (
    <Awaited asked={report} height={HEIGHT}>
      {({ totals }) => <StepsOf totals={totals} period={period} filters={filters} />}
    </Awaited>
  );
}

/** {@link Steps} of totals that are there already. */
export function StepsOf({
  totals,
  period,
  filters,
}: StepsProps & { readonly totals: ReportRow }): ReactElement {
  const { base } = useMembership();
  const { lists } = useRoleFigures();
  const known = STEPS.flatMap(([metric, name]) => {
    const count = totals[metric];
    if (typeof count !== "number" || count === 0) return [];
    // Most links have no pixel for impressions: fewer impressions than clicks are no step before clicks.
    if (metric === "impressions" && count < Number(totals["clicks"])) return [];
    const behind = rowsBehind({ lists, metric, period, filters });
    return [{ name, count, href: behind.kind === "list" ? base + behind.path : undefined }];
  });
  return <Funnel title="From visit to conversion" steps={known} />;
}

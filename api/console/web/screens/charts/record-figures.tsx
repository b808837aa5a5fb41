import { type ReactElement, useState } from "react";
import { useLocation } from "wouter";
import { filterFor, withFilters } from "../../address/filters.ts";
import { type Period, periodParams } from "../../address/period.ts";
import type { Metric } from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import type { ChartParts, Narrowing } from "./chart-parts.ts";
import { Course } from "./course.tsx";
import { Delays } from "./delays.tsx";
import { Steps } from "./steps.tsx";
import { WeekHours } from "./week-hours.tsx";

const HEIGHT = 330;
const LAST_30: Period = {
  range: { preset: "last30" },
  compare: undefined,
  currency: undefined,
  isConverted: false,
};
const CHARTS = [
  ["series", "Over time"],
  ["steps", "Funnel"],
  ["week", "Heatmap"],
  ["delay", "Time to convert"],
] as const;
type ChartName = (typeof CHARTS)[number][0];

/** The last 30 days of one record, with money in its currency. A mark of a chart opens the report with its filter. */
export function RecordFigures({
  entity,
  id,
  currency,
}: {
  readonly entity: "offer" | "affiliate" | "advertiser";
  readonly id: number;
  readonly currency: string;
}): ReactElement {
  const { base } = useMembership();
  const period: Period = { ...LAST_30, currency };
  const [, go] = useLocation();
  const [shown, setShown] = useState<ChartName>("series");
  const ofRecord = [filterFor(entity, id)];
  const narrow = ({ filters = [], days }: Narrowing): void => {
    const narrowed = days === undefined ? period : { ...period, range: days };
    const params = { ...periodParams(narrowed), filters: withFilters(ofRecord, filters).join(",") };
    go(`${base}/reports?${new URLSearchParams(params).toString()}`);
  };
  return (
    <section className="panel stack" aria-label="Figures of the last 30 days">
      <h2>Last 30 days</h2>
      <div className="segments" role="group" aria-label="Chart">
        {CHARTS.map(([name, title]) => (
          <button
            key={name}
            type="button"
            aria-pressed={shown === name}
            onClick={() => setShown(name)}
          >
            {title}
          </button>
        ))}
      </div>
      {shown === "steps" && <Steps period={period} filters={ofRecord} />}
      {shown === "delay" && <Delays period={period} filters={ofRecord} />}
      {(shown === "series" || shown === "week") && (
        <MetricChart shown={shown} period={period} filters={ofRecord} onNarrow={narrow} />
      )}
    </section>
  );
}

/** A chart of one metric, and a choice among the dashboard's metrics. */
function MetricChart({
  shown,
  ...parts
}: Omit<ChartParts, "metric"> & { readonly shown: "series" | "week" }): ReactElement {
  const fields = useNamedFields();
  const { tiles } = useRoleFigures();
  const [picked, setPicked] = useState("clicks");
  if (fields.isError)
    return <ProblemNotice error={fields.error} onRetry={() => void fields.refetch()} />;
  if (fields.data === undefined) return <Skeleton height={HEIGHT} />;
  const known = fields.data.metrics;
  const metrics: readonly Metric[] = tiles.flatMap(
    (name) => known.find((one) => one.name === name) ?? [],
  );
  const metric = metrics.find(({ name }) => name === picked);
  return (
    <>
      <div className="row">
        <select
          className="select"
          aria-label="Metric"
          value={picked}
          onChange={(event) => setPicked(event.currentTarget.value)}
        >
          {metrics.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {metric !== undefined && shown === "series" && <Course {...parts} metric={metric} />}
      {metric !== undefined && shown === "week" && <WeekHours {...parts} metric={metric} />}
    </>
  );
}

import { usePrefetchQuery } from "@tanstack/react-query";
import { type ReactElement, type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { comparedParams, type Period, periodParams, readPeriod } from "../../address/period.ts";
import { useSearch } from "../../address/use-search.ts";
import { isAway } from "../../client/problem.ts";
import {
  type Metric,
  type ReportFields,
  reportOptions,
  timeseriesOptions,
  useReport,
} from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited, NoFigures } from "../../parts/awaited.tsx";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { ownComparison } from "../../range/own-comparison.ts";
import { PeriodBar } from "../../range/period-bar.tsx";
import type { Narrowing } from "../charts/chart-parts.ts";
import { CountryMap } from "../charts/country-map.tsx";
import { Course, courseQuery } from "../charts/course.tsx";
import { StepsOf } from "../charts/steps.tsx";
import { ChartsOrSteps } from "./charts-or-steps.tsx";
import { Tiles, totalsQuery, WaitingTiles } from "./tiles.tsx";
import { TopList } from "./top-list.tsx";

const PLOT_HEIGHT = 354;
const FUNNEL_HEIGHT = 250;

type DashboardProps = {
  /** Stands beside the chart, or below it on a small screen. */
  readonly beside?: ReactNode;
  /** Stands below the lists. */
  readonly below?: (shown: { readonly metric: Metric; readonly period: Period }) => ReactNode;
};

/** Figures of a period, their course, and who made them. */
export function Dashboard(props: DashboardProps): ReactElement {
  const membership = useMembership();
  const search = useSearch();
  const [path, go] = useLocation();
  const { period } = readPeriod(new URLSearchParams(search), ownComparison());
  const fields = useNamedFields();
  const { tiles } = useRoleFigures();
  const [picked, setPicked] = useState("clicks");
  // The role knows the names of its tiles, so the figures need not wait for what the names mean.
  usePrefetchQuery(reportOptions(membership, totalsQuery(tiles, period)));
  usePrefetchQuery(timeseriesOptions(membership, courseQuery(picked, { period, filters: [] })));
  const change = (to: Period): void =>
    go(`${path}?${new URLSearchParams(comparedParams(to)).toString()}`);
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Dashboard</h1>
        <PeriodBar period={period} zone={membership.zone} onChange={change} />
      </div>
      {fields.isError && !isAway(fields.error) && (
        <ProblemNotice error={fields.error} onRetry={() => void fields.refetch()} />
      )}
      {fields.data === undefined ? (
        <Waiting isAway={isAway(fields.error)} />
      ) : (
        <Figures
          {...props}
          fields={fields.data}
          period={period}
          picked={picked}
          onPick={setPicked}
          onChange={change}
        />
      )}
    </>
  );
}

/** The places of the first figures while their names are read. */
function Waiting({ isAway: isGone }: { readonly isAway: boolean }): ReactElement {
  const { tiles } = useRoleFigures();
  return (
    <>
      <WaitingTiles metrics={tiles.map((name) => ({ name, label: "" }))} />
      {isGone ? <NoFigures height={PLOT_HEIGHT} /> : <Skeleton height={PLOT_HEIGHT} />}
    </>
  );
}

function Figures({
  fields,
  period,
  picked,
  onPick,
  onChange,
  beside,
  below,
}: DashboardProps & {
  readonly fields: ReportFields;
  readonly period: Period;
  readonly picked: string;
  readonly onPick: (name: string) => void;
  readonly onChange: (period: Period) => void;
}): ReactElement | null {
  const membership = useMembership();
  const [, go] = useLocation();
  const { tiles, tops } = useRoleFigures();
  const report = useReport(membership, totalsQuery(tiles, period));
  const metrics = tiles.flatMap((name) => fields.metrics.find((one) => one.name === name) ?? []);
  const metric = metrics.find(({ name }) => name === picked) ?? metrics[0];
  if (metric === undefined) return null;
  // A day opens the same address with this day; a country or hour opens a report.
  const narrow = ({ filters = [], days }: Narrowing): void => {
    if (filters.length === 0 && days !== undefined) return onChange({ ...period, range: days });
    const params = { ...periodParams(period), filters: filters.join(",") };
    go(`${membership.base}/reports?${new URLSearchParams(params).toString()}`);
  };
  const shown = { metric, period };
  return (
    <>
      <Tiles
        metrics={metrics}
        period={period}
        picked={metric.name}
        onPick={onPick}
        onChange={onChange}
      />
      <ChartsOrSteps query={totalsQuery(tiles, period)}>
        <div className={beside === undefined ? undefined : "beside"}>
          <Course {...shown} filters={[]} onNarrow={narrow} />
          {beside}
        </div>
        <Awaited asked={report} height={FUNNEL_HEIGHT}>
          {({ totals }) => <StepsOf totals={totals} period={period} filters={[]} />}
        </Awaited>
        <div className="columns">
          {tops
            .flatMap((name) => fields.dimensions.find((one) => one.name === name) ?? [])
            .map((dimension) => (
              <TopList key={dimension.name} dimension={dimension} {...shown} />
            ))}
        </div>
        {below?.(shown)}
        <CountryMap {...shown} filters={[]} onNarrow={narrow} />
      </ChartsOrSteps>
    </>
  );
}

import { usePrefetchQuery } from "@tanstack/react-query";
import { type ReactElement, useState } from "react";
import { useLocation } from "wouter";
import { type Period, periodParams, readPeriod } from "../../address/period.ts";
import { useSearch } from "../../address/use-search.ts";
import {
  type Metric,
  type ReportRow,
  reportOptions,
  timeseriesOptions,
  useReport,
} from "../../client/reports.ts";
import { useRoleFigures } from "../../figures/role-figures.ts";
import { useNamedFields } from "../../figures/use-named-fields.ts";
import { exact, formatFigure } from "../../format/figure.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { PeriodBar } from "../../range/period-bar.tsx";
import { Change } from "../change.tsx";
import type { Narrowing } from "../charts/chart-parts.ts";
import { CountryMap } from "../charts/country-map.tsx";
import { Course, courseQuery } from "../charts/course.tsx";
import { STEP_METRICS, StepsOf } from "../charts/steps.tsx";
import { MoneyNote } from "../money-note.tsx";
import { ChartsOrSteps } from "./charts-or-steps.tsx";
import { TopList } from "./top-list.tsx";

const TILE_HEIGHT = 86;
const PLOT_HEIGHT = 330;

/** Figures of a period, their course, and who made them. */
export function Dashboard(): ReactElement {
  const membership = useMembership();
  const search = useSearch();
  const [path, go] = useLocation();
  const { period } = readPeriod(new URLSearchParams(search));
  const fields = useNamedFields();
  const { tiles, tops } = useRoleFigures();
  const metrics = tiles.flatMap(
    (name) => fields.data?.metrics.find((one) => one.name === name) ?? [],
  );
  const [picked, setPicked] = useState("clicks");
  // The role knows the names of its tiles, so the figures need not wait for what the names mean.
  usePrefetchQuery(reportOptions(membership, totalsQuery(tiles, period)));
  usePrefetchQuery(timeseriesOptions(membership, courseQuery(picked, { period, filters: [] })));
  const metric = metrics.find(({ name }) => name === picked) ?? metrics[0];
  const change = (to: Period): void =>
    go(`${path}?${new URLSearchParams(periodParams(to)).toString()}`);
  // A day opens the same address with this day; a country or hour opens a report.
  const narrow = ({ filters = [], days }: Narrowing): void => {
    if (filters.length === 0 && days !== undefined) return change({ ...period, range: days });
    const params = { ...periodParams(period), filters: filters.join(",") };
    go(`${membership.base}/reports?${new URLSearchParams(params).toString()}`);
  };
  return (
    <>
      <div className="row wrap">
        <h1 className="grow">Dashboard</h1>
        <PeriodBar period={period} zone={membership.zone} onChange={change} />
      </div>
      {fields.isError && (
        <ProblemNotice error={fields.error} onRetry={() => void fields.refetch()} />
      )}
      {metric === undefined ? (
        <Skeleton height={TILE_HEIGHT + PLOT_HEIGHT} />
      ) : (
        <>
          <Tiles
            metrics={metrics}
            period={period}
            picked={metric.name}
            onPick={setPicked}
            onChange={change}
          />
          <ChartsOrSteps query={totalsQuery(tiles, period)}>
            <Course metric={metric} period={period} filters={[]} onNarrow={narrow} />
            <div className="columns">
              {tops
                .flatMap((name) => fields.data?.dimensions.find((one) => one.name === name) ?? [])
                .map((dimension) => (
                  <TopList
                    key={dimension.name}
                    dimension={dimension}
                    metric={metric}
                    period={period}
                  />
                ))}
            </div>
            <CountryMap metric={metric} period={period} filters={[]} onNarrow={narrow} />
          </ChartsOrSteps>
        </>
      )}
    </>
  );
}

function Tiles({
  metrics,
  period,
  picked,
  onPick,
  onChange,
}: {
  readonly metrics: readonly Metric[];
  readonly period: Period;
  readonly onChange: (period: Period) => void;
  readonly picked: string;
  readonly onPick: (name: string) => void;
}): ReactElement {
  const membership = useMembership();
  const { tiles } = useRoleFigures();
  const report = useReport(membership, totalsQuery(tiles, period));
  if (report.isError)
    return <ProblemNotice error={report.error} onRetry={() => void report.refetch()} />;
  const totals: ReportRow | undefined = report.data?.totals;
  const currency = report.data?.currency ?? membership.currency;
  return (
    <>
      <div className={report.isPlaceholderData ? "tiles is-updating" : "tiles"}>
        {metrics.map(({ name, label, kind }) => (
          <button
            key={name}
            type="button"
            className="tile"
            aria-pressed={name === picked}
            onClick={() => onPick(name)}
          >
            <span className="name">{label}</span>
            <span className="value" title={exact(totals?.[name], kind, currency)}>
              {totals === undefined ? (
                <Skeleton height={30} width={96} />
              ) : (
                formatFigure(totals[name], kind, currency)
              )}
            </span>
            <Change metric={name} change={totals?.change?.[name]} />
          </button>
        ))}
      </div>
      <MoneyNote
        others={report.data?.other_currencies ?? []}
        shown={currency}
        period={period}
        onChange={onChange}
      />
      {totals !== undefined && <StepsOf totals={totals} period={period} filters={[]} />}
    </>
  );
}

function totalsQuery(tiles: readonly string[], period: Period): Record<string, string> {
  const names = new Set([...tiles, ...STEP_METRICS]);
  return { ...periodParams(period), metrics: [...names].join(",") };
}

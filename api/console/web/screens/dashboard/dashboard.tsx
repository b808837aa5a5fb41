import { type ReactElement, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { intervalOf, type Period, periodParams, readPeriod } from "../../address/period.ts";
import {
  type Metric,
  type ReportRow,
  useReport,
  useReportFields,
  useTimeseries,
} from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { formatBucket } from "../../format/time.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Funnel } from "../../plots/funnel.tsx";
import { TimeSeries } from "../../plots/time-series.tsx";
import { PeriodBar } from "../../range/period-bar.tsx";
import { useMembership } from "../../session/membership.ts";
import { Change } from "../change.tsx";
import { TopList } from "./top-list.tsx";

/** Tiles in this order, as far as the role knows the metric. */
const TILES = ["clicks", "conversions", "revenue", "payout", "profit", "cvr", "epc"];
const TILE_HEIGHT = 86;
const PLOT_HEIGHT = 330;
/** Dimensions of the lists below the series, as far as the role knows them. */
const TOPS = ["offer", "affiliate", "country"];

/** Figures of a period, their course, and who made them. */
export function Dashboard(): ReactElement {
  const membership = useMembership();
  const search = useSearch();
  const [path, go] = useLocation();
  const { period } = readPeriod(new URLSearchParams(search));
  const fields = useReportFields(membership);
  const metrics = TILES.flatMap(
    (name) => fields.data?.metrics.find((one) => one.name === name) ?? [],
  );
  const [picked, setPicked] = useState("clicks");
  const metric = metrics.find(({ name }) => name === picked) ?? metrics[0];
  const change = (to: Period): void =>
    go(`${path}?${new URLSearchParams(periodParams(to)).toString()}`);
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
          <Tiles metrics={metrics} period={period} picked={metric.name} onPick={setPicked} />
          <Course metric={metric} period={period} />
          <div className="columns">
            {TOPS.filter((name) => fields.data?.dimensions.some((one) => one.name === name)).map(
              (dimension) => (
                <TopList key={dimension} dimension={dimension} metric={metric} period={period} />
              ),
            )}
          </div>
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
}: {
  readonly metrics: readonly Metric[];
  readonly period: Period;
  readonly picked: string;
  readonly onPick: (name: string) => void;
}): ReactElement {
  const membership = useMembership();
  const report = useReport(membership, totalsQuery(metrics, period));
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
            <span className="value">
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
      <OtherCurrencies names={report.data?.other_currencies ?? []} shown={currency} />
      {totals !== undefined && <Steps totals={totals} />}
    </>
  );
}

/** Sums of money stand in one currency. What is left out is named. */
function OtherCurrencies({
  names,
  shown,
}: {
  readonly names: readonly string[];
  readonly shown: string;
}): ReactElement | null {
  if (names.length === 0) return null;
  return (
    <p className="notice warn">
      Money in {names.join(", ")} is not in these sums, which are in {shown}.
    </p>
  );
}

function Steps({ totals }: { readonly totals: ReportRow }): ReactElement {
  const steps = [
    ["Impressions", totals["impressions"]],
    ["Clicks", totals["clicks"]],
    ["Unique clicks", totals["unique_clicks"]],
    ["Approved conversions", totals["conversions"]],
  ] as const;
  const known = steps.flatMap(([name, count]) =>
    typeof count === "number" && count > 0 ? [{ name, count }] : [],
  );
  return <Funnel title="From visit to conversion" steps={known} />;
}

function totalsQuery(metrics: readonly Metric[], period: Period): Record<string, string> {
  const names = new Set([...metrics.map(({ name }) => name), "impressions", "unique_clicks"]);
  return { ...periodParams(period), metrics: [...names].join(",") };
}

function Course({
  metric,
  period,
}: {
  readonly metric: Metric;
  readonly period: Period;
}): ReactElement {
  const membership = useMembership();
  const interval = intervalOf(period);
  const series = useTimeseries(membership, {
    ...periodParams(period),
    interval,
    metrics: metric.name,
  });
  if (series.isError)
    return <ProblemNotice error={series.error} onRetry={() => void series.refetch()} />;
  if (series.data === undefined) return <Skeleton height={PLOT_HEIGHT} />;
  const rows: readonly ReportRow[] = series.data.data;
  const currency = period.currency ?? membership.currency;
  return (
    <TimeSeries
      title={metric.label}
      says={metric.definition}
      points={rows.map((row) => ({
        label: formatBucket(String(row["bucket"] ?? ""), interval),
        value: row[metric.name] ?? null,
        compared: row.previous?.[metric.name],
      }))}
      format={(value) => formatFigure(value, metric.kind, currency)}
      formatTick={(tick) => tickText(tick, metric, currency)}
      isLastOpen={isOpen(period)}
      comparedName={period.compare === undefined ? undefined : "Before"}
    />
  );
}

function tickText(tick: number, { kind }: Metric, currency: string): string {
  const short = { notation: "compact", maximumFractionDigits: 1 } as const;
  if (kind === "money")
    return new Intl.NumberFormat(undefined, { ...short, style: "currency", currency }).format(tick);
  if (kind === "ratio")
    return new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 }).format(
      tick,
    );
  return new Intl.NumberFormat(undefined, short).format(tick);
}

/** Whether the last bucket has not ended. */
function isOpen({ range }: Period): boolean {
  return "preset" in range && !/^(?:yesterday|last_)/.test(range.preset);
}

import type { ReactElement } from "react";
import { filterFor } from "../../address/filters.ts";
import { intervalOf, type Period, periodParams } from "../../address/period.ts";
import { type ReportRow, useTimeseries } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { formatTick } from "../../format/tick.ts";
import { formatBucket, formatHour } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { ProblemNotice } from "../../parts/problem-notice.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TimeSeries } from "../../plots/time-series.tsx";
import { type ChartParts, filterParams, type Narrowing } from "./chart-parts.ts";

const PLOT_HEIGHT = 330;

/** What {@link Course} asks for. */
export function courseQuery(
  metric: string,
  { period, filters }: Pick<ChartParts, "period" | "filters">,
): Record<string, string> {
  const interval = intervalOf(period);
  return { ...periodParams(period), ...filterParams(filters), interval, metrics: metric };
}

/** A metric over time. A point opens its day or hour, a drag across days their range. */
export function Course({ metric, period, filters, onNarrow }: ChartParts): ReactElement {
  const membership = useMembership();
  const interval = intervalOf(period);
  const series = useTimeseries(membership, courseQuery(metric.name, { period, filters }));
  if (series.isError)
    return <ProblemNotice error={series.error} onRetry={() => void series.refetch()} />;
  if (series.data === undefined) return <Skeleton height={PLOT_HEIGHT} />;
  const rows: readonly ReportRow[] = series.data.data;
  const currency = period.currency ?? membership.currency;
  const bucketOf = (row: ReportRow | undefined): string => String(row?.["bucket"] ?? "");
  return (
    <TimeSeries
      title={metric.label}
      says={metric.definition}
      points={rows.map((row) => ({
        label:
          interval === "hour"
            ? formatHour(bucketOf(row), membership.zone)
            : formatBucket(bucketOf(row), interval),
        value: row[metric.name] ?? null,
        compared: row.previous?.[metric.name],
      }))}
      format={(value) => formatFigure(value, metric.kind, currency)}
      formatTick={(tick) => formatTick(tick, metric.kind, currency)}
      isLastOpen={isOpen(period)}
      comparedName={period.compare === undefined ? undefined : "Before"}
      onRange={
        interval === "day"
          ? (first, last) =>
              onNarrow({ days: { from: bucketOf(rows[first]), to: bucketOf(rows[last]) } })
          : undefined
      }
      onPick={(at) => onNarrow(narrowedTo(bucketOf(rows[at]), interval, membership.zone))}
    />
  );
}

/** A day is a range. An hour is a filter, by the clock of the zone as reports name it. */
function narrowedTo(bucket: string, interval: "day" | "hour", zone: string): Narrowing {
  if (interval === "day") return { days: { from: bucket, to: bucket } };
  const local = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    hourCycle: "h23",
  }).format(new Date(bucket));
  const [day = "", hour = ""] = local.split(" ");
  return { filters: [filterFor("hour", `${day}T${hour.slice(0, 2)}:00`)] };
}

/** Whether the last bucket has not ended. */
function isOpen({ range }: Period): boolean {
  return "preset" in range && !/^(?:yesterday|last_)/.test(range.preset);
}

import type { ReactElement } from "react";
import { filterFor } from "../../address/filters.ts";
import { intervalOf, type Period, periodParams } from "../../address/period.ts";
import { type ReportRow, type Timeseries, useTimeseries } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { formatTick } from "../../format/tick.ts";
import { formatBucket, formatHour } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { TimeSeries } from "../../plots/time-series.tsx";
import { drawnValue } from "../why-absent.ts";
import { type ChartParts, filterParams, type Narrowing } from "./chart-parts.ts";
import { localDay } from "./local-days.ts";
import { dayBefore, daysBetween, rangeWords } from "./range-words.ts";

/** Of the plot with its heading and its legend. */
const PLOT_HEIGHT = 354;

/** What {@link Course} asks for. */
export function courseQuery(
  metric: string,
  { period, filters }: Pick<ChartParts, "period" | "filters">,
): Record<string, string> {
  const interval = intervalOf(period);
  return { ...periodParams(period), ...filterParams(filters), interval, metrics: metric };
}

/** A metric over time. A point opens its day or hour, a drag across days their range. */
export function Course(parts: ChartParts): ReactElement {
  const { metric, period, filters } = parts;
  const membership = useMembership();
  const series = useTimeseries(membership, courseQuery(metric.name, { period, filters }));
  return (
    <Awaited asked={series} height={PLOT_HEIGHT}>
      {(answer) => <Lines {...parts} answer={answer} />}
    </Awaited>
  );
}

function Lines({
  metric,
  period,
  onNarrow,
  answer: { data: rows, range, compared_range: compared },
}: ChartParts & { readonly answer: Timeseries }): ReactElement {
  const membership = useMembership();
  const interval = intervalOf(period);
  const currency = period.currency ?? membership.currency;
  const days = compared === undefined ? 0 : daysBetween(range, compared);
  const hasCompared = compared !== undefined && period.compare !== undefined;
  return (
    <TimeSeries
      title={metric.label}
      says={metric.definition}
      points={rows.map((row) => ({
        label: labelOf(bucketOf(row), interval, membership.zone),
        value: drawnValue(metric.name, row[metric.name]),
        compared: drawnValue(metric.name, row.previous?.[metric.name]),
        comparedLabel: earlierLabel(bucketOf(row), days, membership.zone),
      }))}
      format={(value) => formatFigure(value, metric.kind, currency)}
      formatTick={(tick) => formatTick(tick, metric.kind, currency)}
      isLastOpen={isOpen(period)}
      name={rangeWords(range)}
      comparedName={hasCompared ? `Previous: ${rangeWords(compared)}` : undefined}
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

function bucketOf(row: ReportRow | undefined): string {
  return String(row?.["bucket"] ?? "");
}

function labelOf(bucket: string, interval: "day" | "hour", zone: string): string {
  return interval === "hour" ? formatHour(bucket, zone) : formatBucket(bucket, interval);
}

/** The same bucket so many days before: a day, or the same hour of the clock. */
function earlierLabel(bucket: string, days: number, zone: string): string {
  if (!bucket.includes("T")) return formatBucket(dayBefore(bucket, days), "day");
  const at = new Date(bucket);
  const [, hour = ""] = formatHour(bucket, zone).split(", ");
  return `${formatBucket(dayBefore(localDay(at, zone), days), "day")}, ${hour}`;
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

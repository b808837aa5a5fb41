import type { ReactElement } from "react";
import { intervalOf, periodParams } from "../../address/period.ts";
import {
  type Dimension,
  type ReportAnswer,
  type ReportRow,
  useReport,
} from "../../client/reports.ts";
import { type Figure, formatFigure } from "../../format/figure.ts";
import { formatTick } from "../../format/tick.ts";
import { formatBucket } from "../../format/time.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { SplitSeries } from "../../plots/split-series.tsx";
import { labelOf } from "../row-label.ts";
import { drawnValue } from "../why-absent.ts";
import { type ChartParts, filterParams } from "./chart-parts.ts";
import { Course } from "./course.tsx";
import { daysFrom, localDay } from "./local-days.ts";

const HEIGHT = 374;
const LINES_MAX = 5;
const ROWS_MAX = 10_000;

type SplitProps = ChartParts & {
  readonly dimension: Dimension;
  readonly dateBasis: "conversion" | "click";
};

/** A metric by day, a line for each of the largest values of a dimension and one for the others. One line alone where there is nothing to split. */
export function SplitCourse(props: SplitProps): ReactElement {
  const { metric, period, filters, dimension } = props;
  const membership = useMembership();
  const largest = useReport(membership, {
    ...sharedQuery(props),
    group_by: dimension.name,
    sort: `-${metric.name}`,
    limit: String(LINES_MAX + 1),
  });
  return (
    <Awaited asked={largest} height={HEIGHT}>
      {(answer) => {
        const rows = answer.data.filter((row) => String(row[dimension.name] ?? "") !== "");
        return rows.length < 2 || intervalOf(period) === "hour" ? (
          <Course {...props} />
        ) : (
          <Lines
            key={filters.join(",")}
            {...props}
            top={rows.slice(0, LINES_MAX)}
            hasOthers={answer.total_rows > Math.min(rows.length, LINES_MAX)}
          />
        );
      }}
    </Awaited>
  );
}

type LinesProps = SplitProps & {
  /** The rows that have lines of their own. */
  readonly top: readonly ReportRow[];
  readonly hasOthers: boolean;
};

function Lines(props: LinesProps): ReactElement {
  const { dimension, filters, top, hasOthers } = props;
  const membership = useMembership();
  const values = top.map((row) => encodeURIComponent(String(row[dimension.name]))).join("|");
  const own = useReport(membership, {
    ...sharedQuery(props),
    filters: [...filters, `${dimension.name}:in:${values}`].join(","),
    group_by: `${dimension.name},date`,
    sort: "date",
    limit: String(ROWS_MAX),
  });
  const others = useReport(
    membership,
    {
      ...sharedQuery(props),
      filters: [...filters, `${dimension.name}:not_in:${values}`].join(","),
      group_by: "date",
      sort: "date",
      limit: String(ROWS_MAX),
    },
    "first",
    hasOthers,
  );
  const isReady = !hasOthers || others.data !== undefined || others.isError;
  return (
    <Awaited asked={isReady ? own : others} height={HEIGHT}>
      {() => <Drawn {...props} own={own.data} others={hasOthers ? others.data : undefined} />}
    </Awaited>
  );
}

function Drawn({
  metric,
  dimension,
  top,
  own,
  others,
  onNarrow,
}: LinesProps & {
  readonly own: ReportAnswer | undefined;
  readonly others: ReportAnswer | undefined;
}): ReactElement | null {
  if (own === undefined) return null;
  const { range, currency } = own;
  const days = daysFrom(
    localDay(new Date(range.from), range.tz),
    localDay(new Date(range.to), range.tz),
  );
  const valuesOf = (rows: readonly ReportRow[]): Figure[] => dayValues(rows, metric, days);
  const lines = top.map((row) => ({
    name: labelOf(row, dimension.name),
    values: valuesOf(own.data.filter((one) => one[dimension.name] === row[dimension.name])),
  }));
  const rest =
    others === undefined ? [] : [{ name: "Others", values: valuesOf(others.data), isRest: true }];
  return (
    <SplitSeries
      title={`${metric.label} by ${dimension.label.toLowerCase()}`}
      says={`The ${lines.length} largest by day${rest.length > 0 ? ", and all others together" : ""}.`}
      buckets={days.map((day) => formatBucket(day, "day"))}
      lines={[...lines, ...rest]}
      format={(value) => formatFigure(value, metric.kind, currency)}
      formatTick={(tick) => formatTick(tick, metric.kind, currency)}
      onRange={(first, last) =>
        onNarrow({ days: { from: days[first] ?? "", to: days[last] ?? "" } })
      }
      onPick={(at) => onNarrow({ days: { from: days[at] ?? "", to: days[at] ?? "" } })}
    />
  );
}

/** One value for each day. A day without a row has counted nothing, and has no rate. */
function dayValues(
  rows: readonly ReportRow[],
  { name, kind }: ChartParts["metric"],
  days: readonly string[],
): Figure[] {
  const byDay = new Map(rows.map((row) => [String(row["date"]), row]));
  const nothing = kind === "count" ? 0 : kind === "money" ? "0" : null;
  return days.map((day) => {
    const row = byDay.get(day);
    return row === undefined ? nothing : drawnValue(name, row[name]);
  });
}

function sharedQuery({ metric, period, filters, dateBasis }: SplitProps): Record<string, string> {
  return {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams(filters),
    metrics: metric.name,
    ...(dateBasis === "click" ? { date_basis: dateBasis } : {}),
  };
}

import type { ReactElement } from "react";
import { filterFor } from "../../address/filters.ts";
import { periodParams } from "../../address/period.ts";
import { type ReportAnswer, useReport } from "../../client/reports.ts";
import { formatFigure } from "../../format/figure.ts";
import { ownLocale } from "../../format/own-format.ts";
import { useMembership } from "../../member/membership.ts";
import { Awaited } from "../../parts/awaited.tsx";
import { GridPlot } from "../../plots/grid-plot.tsx";
import { drawnValue } from "../why-absent.ts";
import { type ChartParts, filterParams } from "./chart-parts.ts";

const HEIGHT = 270;
const WEEK_DAYS = 7;
const DAY_HOURS = 24;

/** A metric by weekday and hour of the zone. A cell filters by both. */
export function WeekHours(parts: ChartParts): ReactElement {
  const { metric, period, filters } = parts;
  const membership = useMembership();
  const report = useReport(membership, {
    ...periodParams({ ...period, compare: undefined }),
    ...filterParams(filters),
    group_by: "weekday,hour_of_day",
    metrics: metric.name,
    limit: String(WEEK_DAYS * DAY_HOURS),
  });
  return (
    <Awaited asked={report} height={HEIGHT}>
      {(answer) => <Hours {...parts} answer={answer} />}
    </Awaited>
  );
}

function Hours({
  metric,
  onNarrow,
  answer: { data: rows, currency },
}: ChartParts & { readonly answer: ReportAnswer }): ReactElement {
  const membership = useMembership();
  const values = new Map(
    rows.map((row) => [
      `${row["weekday"] ?? ""} ${row["hour_of_day"] ?? ""}`,
      drawnValue(metric.name, row[metric.name]),
    ]),
  );
  const nothing = metric.kind === "count" ? 0 : null;
  const cells = Array.from({ length: WEEK_DAYS }, (_, day) =>
    Array.from({ length: DAY_HOURS }, (__, hour) => {
      const value = values.get(`${day + 1} ${hour}`) ?? nothing;
      return { value, text: formatFigure(value, metric.kind, currency) };
    }),
  );
  return (
    <GridPlot
      title={`${metric.label} by weekday and hour`}
      says={`By the clock of ${membership.zone}. Darker means more.`}
      rowHeading="Weekday"
      rows={cells.map((_, day) => weekdayName(day))}
      columns={Array.from({ length: DAY_HOURS }, (_, hour) => `${String(hour).padStart(2, "0")}h`)}
      cells={cells}
      onPick={(day, hour) =>
        onNarrow({ filters: [filterFor("weekday", day + 1), filterFor("hour_of_day", hour)] })
      }
    />
  );
}

/** 5 January 1970 was a Monday. */
function weekdayName(day: number): string {
  const at = new Date(Date.UTC(1970, 0, 5 + day));
  return new Intl.DateTimeFormat(ownLocale(), { weekday: "short", timeZone: "UTC" }).format(at);
}

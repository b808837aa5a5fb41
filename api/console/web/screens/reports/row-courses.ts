import { useQuery } from "@tanstack/react-query";
import { type ReportAddress, reportQuery } from "../../address/report.ts";
import {
  type Metric,
  type ReportAnswer,
  type ReportRow,
  readReport,
} from "../../client/reports.ts";
import { useMembership } from "../../member/membership.ts";
import { heightOf } from "../../plots/pixels.ts";
import { daysFrom, localDay } from "../charts/local-days.ts";

/** Dimensions that are time themselves. */
export const TIMES = new Set(["date", "hour", "week", "month", "hour_of_day", "weekday"]);
/** With a page of 100 rows the answer has at most 9,300. */
const DAYS_MAX = 93;
/** For a filter: the address of a request has room for 8 KB. */
const FILTER_LENGTH_MAX = 2_000;

/** `isUpdating`: the answer is of the report before, and stays until the new answer is there. */
export type ShownAnswer = { readonly answer: ReportAnswer; readonly isUpdating: boolean };

export type RowCourses = {
  readonly metric: Metric;
  readonly isLoading: boolean;
  /** One number a day, the oldest first. Undefined for a row that has no course. */
  readonly of: (row: ReportRow) => readonly number[] | undefined;
};

/**
 * The days of every row of a page, read by one more report. Undefined for reports without such courses: of several dimensions, by time, of
 * one day, and of more days than a small line can show.
 */
export function useRowCourses(
  report: ReportAddress,
  { answer: { data, range }, isUpdating }: ShownAnswer,
  metric: Metric | undefined,
): RowCourses | undefined {
  const membership = useMembership();
  const [dimension = ""] = report.groupBy;
  const days = daysFrom(
    localDay(new Date(range.from), range.tz),
    localDay(new Date(range.to), range.tz),
  );
  const values = valuesOf(data, dimension);
  const hasCourses =
    report.groupBy.length === 1 &&
    !TIMES.has(dimension) &&
    days.length > 1 &&
    days.length <= DAYS_MAX &&
    values.length > 0;
  const { compare: _compare, offset: _offset, ...query } = reportQuery(report);
  const filter = `${dimension}:in:${values.map(encodeURIComponent).join("|")}`;
  const courses = useQuery({
    queryKey: [membership.membershipId, "row-courses", query, metric?.name, filter],
    enabled: hasCourses && metric !== undefined && !isUpdating,
    queryFn: async () => {
      const answer = await readReport(membership, {
        ...query,
        group_by: `${dimension},date`,
        metrics: metric?.name ?? "",
        filters: [...report.filters, filter].join(","),
        sort: "date",
        limit: String(values.length * days.length),
      });
      return coursesIn(answer.data, { dimension, metric: metric?.name ?? "", days });
    },
  });
  if (metric === undefined || !hasCourses) return undefined;
  return {
    metric,
    isLoading: courses.isPending,
    of: (row) => courses.data?.get(String(row[dimension])),
  };
}

/** Values of the first rows, as many as one filter takes. The empty value cannot stand in a term beside others. */
function valuesOf(rows: readonly ReportRow[], dimension: string): string[] {
  const values: string[] = [];
  let length = 0;
  for (const row of rows) {
    const text = String(row[dimension] ?? "");
    length += encodeURIComponent(text).length + 1;
    if (length > FILTER_LENGTH_MAX) break;
    if (text !== "") values.push(text);
  }
  return values;
}

/** @internal */
export function coursesIn(
  rows: readonly ReportRow[],
  {
    dimension,
    metric,
    days,
  }: { readonly dimension: string; readonly metric: string; readonly days: readonly string[] },
): ReadonlyMap<string, readonly number[]> {
  const courses = new Map<string, number[]>();
  const place = new Map(days.map((day, at) => [day, at]));
  for (const row of rows) {
    const value = String(row[dimension] ?? "");
    const course = courses.get(value) ?? days.map(() => 0);
    courses.set(value, course);
    const at = place.get(String(row["date"]));
    if (at !== undefined) course[at] = heightOf(row[metric]) ?? 0;
  }
  return courses;
}

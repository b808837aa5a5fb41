import type { DayRange, ReportAnswer, ReportRow } from "../../client/reports.ts";
import { formatBucket } from "../../format/time.ts";
import { hasCompared } from "../has-compared.ts";
import { localDay } from "./local-days.ts";

const DAY_MS = 86_400_000;

/** The days of a range, such as "Nov 12 to Nov 18". */
export function rangeWords({ from, to, tz }: DayRange): string {
  const [first, last] = [localDay(new Date(from), tz), localDay(new Date(to), tz)];
  return first === last
    ? formatBucket(first, "day")
    : `${formatBucket(first, "day")} to ${formatBucket(last, "day")}`;
}

/** The days of an answer, and those that it is compared with. */
export function rangesWords({
  range,
  compared_range: compared,
  totals,
}: Pick<ReportAnswer, "range" | "compared_range"> & {
  readonly totals: Pick<ReportRow, "previous">;
}): string {
  const words = rangeWords(range);
  if (compared === undefined) return words;
  return hasCompared(totals)
    ? `${words} · compared with ${rangeWords(compared)}`
    : `${words} · nothing from ${rangeWords(compared)} to compare with`;
}

/** How many days the compared range lies before the range. */
export function daysBetween(range: DayRange, compared: DayRange): number {
  const startOf = ({ from, tz }: DayRange): number => Date.parse(localDay(new Date(from), tz));
  return Math.round((startOf(range) - startOf(compared)) / DAY_MS);
}

/** The day that lies so many days before a day, both as reports name days. */
export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
}

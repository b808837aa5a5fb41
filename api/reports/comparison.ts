import { formatDay, parseDay } from "../../schemas/time/calendar.ts";
import type { TimeRange } from "../../schemas/time/range.ts";
import { DAY_MS, INSTANT_MS_MAX, INSTANT_MS_MIN, type Zone } from "../../schemas/time/zone.ts";
import { invalidParameter } from "../operation/errors.ts";

/** The period that a report is compared with: its range begins `days` calendar days before the report's. */
export type Comparison = { readonly range: TimeRange; readonly days: number };

/** 52 weeks: the same days of the week, and as many of them. */
const YEAR_DAYS = 364;
const DATES = /^(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})$/;
const FORMS = "previous, previous_year, or dates such as 2025-01-01..2025-01-31";

/**
 * The period of `compare` (N102). It shows the same clock times as the range, whole days earlier. If the range has not ended yet, the
 * period ends whole days before now: today until now is compared with yesterday until the same time.
 * @throws {ApiError} `invalid_parameter`
 */
export function parseComparison(
  given: string | undefined,
  range: TimeRange,
  nowMs: number,
): Comparison | undefined {
  if (given === undefined || given === "") return undefined;
  const days = daysBack(given, range, nowMs);
  const { zone } = range;
  const endMs = hasBegun(range, nowMs) ? Math.min(range.toMs, nowMs) : range.toMs;
  const fromMs = earlier(zone, range.fromMs, days);
  const toMs = earlier(zone, endMs + 1, days) - 1;
  if (fromMs < INSTANT_MS_MIN || toMs > INSTANT_MS_MAX)
    throw invalidParameter("compare", "reaches beyond the years 1970 to 2099");
  // Clocks that skip an hour can leave nothing of a range of a few minutes.
  return { range: { fromMs, toMs: Math.max(fromMs, toMs), zone }, days };
}

function daysBack(given: string, range: TimeRange, nowMs: number): number {
  const { fromMs, zone } = range;
  if (given === "previous") {
    const endMs = hasBegun(range, nowMs) ? Math.min(range.toMs, nowMs) : range.toMs;
    const lengthMs = zone.localMsAt(endMs) + 1 - zone.localMsAt(fromMs);
    return Math.max(1, Math.ceil(lengthMs / DAY_MS));
  }
  if (given === "previous_year") return YEAR_DAYS;
  const [, first = "", last = ""] = DATES.exec(given) ?? [];
  const [firstDay, lastDay] = [parseDay(first), parseDay(last)];
  if (firstDay === undefined || lastDay === undefined)
    throw invalidParameter("compare", `expected ${FORMS}`);
  const [fromDay, toDay] = [zone.dayAt(fromMs), zone.dayAt(range.toMs)];
  if (lastDay - firstDay !== toDay - fromDay) {
    const length = `${formatDay(fromDay)}..${formatDay(toDay)}`;
    throw invalidParameter("compare", `expected as many days as ${length}`);
  }
  return fromDay - firstDay;
}

function hasBegun({ fromMs }: TimeRange, nowMs: number): boolean {
  return fromMs <= nowMs;
}

/** The same time of the clock `days` days before. The start of a day stays a start, also where a day does not begin at midnight. */
function earlier(zone: Zone, atMs: number, days: number): number {
  const day = zone.dayAt(atMs);
  return zone.startOfDayMs(day) === atMs
    ? zone.startOfDayMs(day - days)
    : zone.addDays(atMs, -days);
}

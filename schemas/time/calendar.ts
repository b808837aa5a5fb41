import { DAY_MS } from "./zone.ts";

/*
 * Calendar days by their number since 1970-01-01, without any time zone. Weeks begin on Monday (G29).
 */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/** 1970-01-01 was a Thursday, the fourth day of the week. */
const EPOCH_WEEKDAY = 3;
const WEEKDAYS = [
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
  "Sunday",
] as const;

/** `YYYY-MM-DD` as a day; undefined unless it is a day of the calendar. */
export function parseDay(text: string): number | undefined {
  const match = DATE.exec(text);
  if (match === null) return undefined;
  const [, year = "", month = "", date = ""] = match;
  const day = dayOf(Number(year), Number(month), Number(date));
  return formatDay(day) === text ? day : undefined;
}

export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** `month` counts from 1 and may be outside 1 to 12. */
export function dayOf(year: number, month: number, date: number): number {
  return Date.UTC(year, month - 1, date) / DAY_MS;
}

export function yearMonthOf(day: number): { year: number; month: number } {
  const date = new Date(day * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1 };
}

export function mondayOf(day: number): number {
  return day - weekdayOf(day);
}

/** In English: "Monday". */
export function weekdayName(day: number): string {
  return WEEKDAYS[weekdayOf(day)] ?? "";
}

/** The ISO week that begins with this Monday: `2025-W05`. */
export function isoWeek(monday: number): string {
  // A week belongs to the year of its Thursday.
  const { year } = yearMonthOf(monday + 3);
  const week = Math.floor((monday + 3 - dayOf(year, 1, 1)) / 7) + 1;
  return `${year}-W${String(week).padStart(2, "0")}`;
}

/** 0 is Monday. */
function weekdayOf(day: number): number {
  return (((day + EPOCH_WEEKDAY) % 7) + 7) % 7;
}

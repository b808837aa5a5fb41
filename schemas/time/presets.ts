import { dayOf, mondayOf, yearMonthOf } from "./calendar.ts";

export const PRESETS = [
  "today",
  "yesterday",
  "last7",
  "last14",
  "last30",
  "last90",
  "this_week",
  "last_week",
  "this_month",
  "last_month",
  "this_quarter",
  "last_quarter",
  "this_year",
  "last_year",
] as const;
/** A named range of whole days (G29). */
export type Preset = (typeof PRESETS)[number];

/** Both days are inclusive. */
export type Days = { readonly firstDay: number; readonly lastDay: number };

export function isPreset(text: string): text is Preset {
  return (PRESETS as readonly string[]).includes(text);
}

/** The days of a preset relative to `today`. A period that has not ended yet ends today. */
export function presetDays(preset: Preset, today: number): Days {
  const { year, month } = yearMonthOf(today);
  const quarterMonth = month - ((month - 1) % 3);
  const monday = mondayOf(today);
  const starts: Record<Preset, readonly [first: number, next: number]> = {
    today: [today, today + 1],
    yesterday: [today - 1, today],
    last7: [today - 6, today + 1],
    last14: [today - 13, today + 1],
    last30: [today - 29, today + 1],
    last90: [today - 89, today + 1],
    this_week: [monday, today + 1],
    last_week: [monday - 7, monday],
    this_month: [dayOf(year, month, 1), today + 1],
    last_month: [dayOf(year, month - 1, 1), dayOf(year, month, 1)],
    this_quarter: [dayOf(year, quarterMonth, 1), today + 1],
    last_quarter: [dayOf(year, quarterMonth - 3, 1), dayOf(year, quarterMonth, 1)],
    this_year: [dayOf(year, 1, 1), today + 1],
    last_year: [dayOf(year - 1, 1, 1), dayOf(year, 1, 1)],
  };
  const [firstDay, next] = starts[preset];
  return { firstDay, lastDay: next - 1 };
}

/** Number of days of the preset `today` or `lastN`, for endpoints that use it as their default (G30). */
export function presetLength(preset: Preset): number {
  const { firstDay, lastDay } = presetDays(preset, 0);
  return lastDay - firstDay + 1;
}

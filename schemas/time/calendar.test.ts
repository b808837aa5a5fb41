import { expect, test } from "vitest";
import { dayOf, formatDay, isoWeek, mondayOf, parseDay, weekdayName } from "./calendar.ts";

test.each([
  ["2025-01-31", true],
  ["2024-02-29", true],
  ["2025-02-29", false],
  ["2025-13-01", false],
  ["2025-1-1", false],
  ["0000-00-00", false],
  ["20250131", false],
] as const)("%s is a day: %s", (text, isDay) => {
  expect(parseDay(text) !== undefined).toBe(isDay);
});

test.each([
  ["2025-01-27", "2025-W05", "Monday"],
  ["2024-12-30", "2025-W01", "Monday"],
  ["2020-12-28", "2020-W53", "Monday"],
  ["2021-01-04", "2021-W01", "Monday"],
] as const)("the week of %s is %s", (monday, week, weekday) => {
  const day = parseDay(monday) ?? Number.NaN;
  expect([isoWeek(day), weekdayName(day)]).toEqual([week, weekday]);
});

test("every day of a week belongs to its Monday", () => {
  const monday = dayOf(2025, 1, 27);
  for (let offset = 0; offset < 7; offset += 1) expect(mondayOf(monday + offset)).toBe(monday);
  expect(mondayOf(monday + 7)).toBe(monday + 7);
  expect(formatDay(mondayOf(dayOf(2025, 2, 2)))).toBe("2025-01-27");
  expect(weekdayName(dayOf(2025, 2, 2))).toBe("Sunday");
});

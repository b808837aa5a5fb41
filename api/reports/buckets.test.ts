import { expect, test } from "vitest";
import { resolveRange } from "../../schemas/time/range.ts";
import { dayBuckets, hourBuckets } from "./buckets.ts";

function rangeOf(from: string, to: string, tz: string) {
  const rules = { nowMs: 0, workspaceTimezone: "UTC", defaultPreset: "today" } as const;
  const result = resolveRange({ from, to, tz }, rules);
  if (result.kind === "refused") throw new Error(result.message);
  return result.range;
}

test.each([
  ["2025-03-30", "Europe/Berlin", 23],
  ["2025-10-26", "Europe/Berlin", 25],
  ["2025-10-27", "Europe/Berlin", 24],
  ["2025-01-15", "Asia/Kathmandu", 24],
] as const)("%s has in %s %d hours, each an hour after the other (T71)", (date, tz, count) => {
  const hours = hourBuckets(rangeOf(date, date, tz)).map((text) => Date.parse(text));
  expect(hours).toHaveLength(count);
  expect(hours.map((start) => start - (hours[0] ?? 0))).toEqual(hours.map((_, i) => i * 3_600_000));
});

test("hours begin when the wall clock of the zone shows them (G80)", () => {
  const range = rangeOf("2025-01-15T00:20:00Z", "2025-01-15T01:30:00Z", "Asia/Kolkata");
  expect(hourBuckets(range)).toEqual([
    "2025-01-14T23:30:00.000Z",
    "2025-01-15T00:30:00.000Z",
    "2025-01-15T01:30:00.000Z",
  ]);
});

test("every day that a range touches, once (TS-003)", () => {
  const range = rangeOf("2025-10-25T21:59:59Z", "2025-10-26T23:00:00Z", "Europe/Berlin");
  expect(dayBuckets(range)).toEqual(["2025-10-25", "2025-10-26", "2025-10-27"]);
});

import { expect, test } from "vitest";
import { periodOf } from "./periods.ts";

test.each([
  [
    "net7",
    "2026-02-28T23:30:00Z",
    "2026-02-28T23:00:00.000Z",
    "2026-03-31T22:00:00.000Z",
    "2026-04-08",
  ],
  [
    "net30",
    "2026-12-31T22:59:59Z",
    "2026-11-30T23:00:00.000Z",
    "2026-12-31T23:00:00.000Z",
    "2027-01-31",
  ],
  [
    "net60",
    "2024-02-10T12:00:00Z",
    "2024-01-31T23:00:00.000Z",
    "2024-02-29T23:00:00.000Z",
    "2024-04-30",
  ],
  [
    "monthly",
    "2026-06-15T12:00:00Z",
    "2026-05-31T22:00:00.000Z",
    "2026-06-30T22:00:00.000Z",
    "2026-07-01",
  ],
  [
    "weekly",
    "2026-03-29T12:00:00Z",
    "2026-03-22T23:00:00.000Z",
    "2026-03-29T22:00:00.000Z",
    "2026-03-30",
  ],
  [
    "biweekly",
    "2024-01-14T12:00:00Z",
    "2023-12-31T23:00:00.000Z",
    "2024-01-14T23:00:00.000Z",
    "2024-01-15",
  ],
  [
    "biweekly",
    "2023-12-31T12:00:00Z",
    "2023-12-17T23:00:00.000Z",
    "2023-12-31T23:00:00.000Z",
    "2024-01-01",
  ],
])("%s: the period of %s in Berlin (N47)", (terms, at, ...expected) => {
  const period = periodOf(terms, Date.parse(at), "Europe/Berlin");
  expect([
    new Date(period.fromMs).toISOString(),
    new Date(period.toMs).toISOString(),
    period.dueOn,
  ]).toEqual(expected);
});

test.each(["weekly", "biweekly", "monthly", "net15"])(
  "periods of %s adjoin, and their ends belong to the next one (N47)",
  (terms) => {
    let period = periodOf(terms, Date.UTC(2025, 11, 20), "America/New_York");
    for (let round = 0; round < 60; round += 1) {
      const next = periodOf(terms, period.toMs, "America/New_York");
      expect(next.fromMs).toBe(period.toMs);
      expect(periodOf(terms, period.toMs - 1, "America/New_York")).toEqual(period);
      period = next;
    }
  },
);

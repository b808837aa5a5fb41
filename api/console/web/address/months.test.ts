import { expect, test } from "vitest";
import { daysOf, monthsIn } from "./months.ts";

test("months cover a range without gap or overlap", () => {
  expect(monthsIn({ from: "2025-12-15", to: "2026-03-02" })).toEqual([
    { from: "2026-03-01", to: "2026-03-02" },
    { from: "2026-02-01", to: "2026-02-28" },
    { from: "2026-01-01", to: "2026-01-31" },
    { from: "2025-12-15", to: "2025-12-31" },
  ]);
  expect(monthsIn({ from: "2024-02-29", to: "2024-02-29" })).toEqual([
    { from: "2024-02-29", to: "2024-02-29" },
  ]);
});

test("an echoed range has the days of its zone", () => {
  const range = { from: "2026-03-28T23:00:00.000Z", to: "2026-03-29T21:59:59.999Z" };
  expect(daysOf({ ...range, tz: "Europe/Berlin" })).toEqual({
    from: "2026-03-29",
    to: "2026-03-29",
  });
});

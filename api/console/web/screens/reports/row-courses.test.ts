import { expect, test } from "vitest";
import { coursesIn } from "./row-courses.ts";

const days = ["2026-11-01", "2026-11-02", "2026-11-03"];

test("the course of a row has every day of the range, with 0 where the report has no row", () => {
  const rows = [
    { country: "DE", date: "2026-11-01", clicks: 4 },
    { country: "AT", date: "2026-11-02", clicks: 1 },
    { country: "DE", date: "2026-11-03", clicks: 6 },
  ];
  const courses = coursesIn(rows, { dimension: "country", metric: "clicks", days });
  expect(Object.fromEntries(courses)).toEqual({ DE: [4, 0, 6], AT: [0, 1, 0] });
});

test("money of a course is drawn from its exact text, and a day outside of the range is left out", () => {
  const rows = [
    { offer: 7, date: "2026-11-02", revenue: "12.3456" },
    { offer: 7, date: "2026-11-09", revenue: "99.0000" },
  ];
  const courses = coursesIn(rows, { dimension: "offer", metric: "revenue", days });
  expect(courses.get("7")).toEqual([0, 12.3456, 0]);
});

import { expect, test } from "vitest";
import { dayBefore, daysBetween, rangesWords, rangeWords } from "./range-words.ts";

const tz = "Europe/Berlin";
const WEEK = { from: "2026-11-11T23:00:00.000Z", to: "2026-11-18T22:59:59.999Z", tz };
const BEFORE = { from: "2026-11-04T23:00:00.000Z", to: "2026-11-11T22:59:59.999Z", tz };

test("a range is named by the days of its zone, and one day only once", () => {
  expect(rangeWords(WEEK)).toBe("Nov 12 to Nov 18");
  expect(rangeWords({ ...WEEK, to: "2026-11-12T22:59:59.999Z" })).toBe("Nov 12");
});

test("the days that figures are compared with are named, and whether they have anything", () => {
  const answer = { range: WEEK, compared_range: BEFORE };
  const totals = { previous: { clicks: 0, payout: "0.0000", cvr: null } };
  expect(rangesWords({ ...answer, totals })).toBe(
    "Nov 12 to Nov 18 · nothing from Nov 5 to Nov 11 to compare with",
  );
  const earlier = { clicks: 0, payout: "0.0001" };
  expect(rangesWords({ ...answer, totals: { previous: earlier } })).toBe(
    "Nov 12 to Nov 18 · compared with Nov 5 to Nov 11",
  );
  expect(rangesWords({ range: WEEK, totals: {} })).toBe("Nov 12 to Nov 18");
});

test("the distance of two ranges is counted in days, also across a change of the clock", () => {
  expect(daysBetween(WEEK, BEFORE)).toBe(7);
  // Summer time ends on October 25, so the month has an hour more.
  const november = { from: "2026-10-31T23:00:00.000Z", to: WEEK.to, tz };
  const october = { from: "2026-09-30T22:00:00.000Z", to: WEEK.to, tz };
  expect(daysBetween(november, october)).toBe(31);
  expect(dayBefore("2026-03-01", 1)).toBe("2026-02-28");
});

import { expect, test } from "vitest";
import { nearestName } from "./nearest-name.ts";

const NAMES = ["limit", "cursor", "status", "offer_id", "affiliate_id", "sub1", "sub10"];

test.each([
  ["limits", "limit"],
  ["statu", "status"],
  ["stauts", "status"],
  ["Status", "status"],
  ["offerid", "offer_id"],
  ["affiliateId", "affiliate_id"],
  ["sub11", "sub1"],
  ["", "sub1"],
])("the name nearest to %j is %s (#21, G14)", (given, nearest) => {
  expect(nearestName(given, NAMES)).toBe(nearest);
});

test("a swap of neighbours is one edit, a swap and a change are two", () => {
  expect(nearestName("ba", ["bcd", "ab"])).toBe("ab");
  expect(nearestName("bax", ["abcdef", "aby"])).toBe("aby");
});

test("no known names give no result, and a name of any length is compared in bounded time", () => {
  expect(nearestName("limit", [])).toBeUndefined();
  expect(nearestName(`limit${"x".repeat(1_000_000)}`, NAMES)).toBe("limit");
});

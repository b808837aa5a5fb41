import { expect, test } from "vitest";
import { decimalsIn, missingDecimals } from "./decimals.ts";

test.each([
  ["€2.25", 2],
  ["$0.0125", 4],
  ["1.234,50 €", 2],
  ["-¥1,234", 0],
  ["12,345", 0],
  ["KWD 1.250", 0],
  ["–", 0],
  ["", 0],
  ["$1.25 + €2.50", 2],
  [undefined, 0],
  [3, 0],
])("%j has %d digits behind its point", (cell, digits) => {
  expect(decimalsIn(cell)).toBe(digits);
});

test("an amount with two decimals misses two of a column with four, and nothing else misses any", () => {
  expect(missingDecimals("€2.25", 4)).toBe(2);
  expect(missingDecimals("€2.2525", 4)).toBe(0);
  expect(missingDecimals("€2.25", 2)).toBe(0);
  expect(missingDecimals("1,234", 4)).toBe(0);
  expect(missingDecimals("–", 4)).toBe(0);
  expect(missingDecimals("€2.25", undefined)).toBe(0);
});

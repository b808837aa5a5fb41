import { expect, test } from "vitest";
import { keyTarget } from "./point-keys.ts";

const WEEK = { count: 168, columns: 24 };

test("arrow keys move by one point along a row and by one row across", () => {
  expect(keyTarget("ArrowRight", 3, WEEK)).toBe(4);
  expect(keyTarget("ArrowLeft", 3, WEEK)).toBe(2);
  expect(keyTarget("ArrowDown", 3, WEEK)).toBe(27);
  expect(keyTarget("ArrowUp", 27, WEEK)).toBe(3);
});

test("a key never leaves the points", () => {
  expect(keyTarget("ArrowLeft", 0, WEEK)).toBe(0);
  expect(keyTarget("ArrowUp", 5, WEEK)).toBe(5);
  expect(keyTarget("ArrowRight", 167, WEEK)).toBe(167);
  expect(keyTarget("ArrowDown", 150, WEEK)).toBe(150);
});

test("Home and End lead to the ends, other keys nowhere", () => {
  expect(keyTarget("Home", 90, WEEK)).toBe(0);
  expect(keyTarget("End", 90, WEEK)).toBe(167);
  expect(keyTarget("Enter", 90, WEEK)).toBeUndefined();
});

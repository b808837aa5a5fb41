import { expect, test } from "vitest";
import { LateClicks } from "./late-clicks.ts";

const HOUR_MS = 3_600_000;

test("the earliest late click counts for one to two hours after it arrived", () => {
  const late = new LateClicks();
  expect(late.earliestMs(0)).toBe(Number.POSITIVE_INFINITY);
  late.note(-50, 0);
  late.note(-100, HOUR_MS - 1);
  late.note(-20, HOUR_MS - 1);
  expect(late.earliestMs(2 * HOUR_MS - 1)).toBe(-100);
  late.note(-10, 2 * HOUR_MS - 1);
  expect(late.earliestMs(2 * HOUR_MS)).toBe(-10);
  expect(late.earliestMs(3 * HOUR_MS)).toBe(Number.POSITIVE_INFINITY);
});

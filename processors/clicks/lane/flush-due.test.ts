import { expect, test } from "vitest";
import { flushDueInMs } from "./flush-due.ts";

const LONG_AGO = {
  isComplete: false,
  lastInsert: { atMs: Number.NEGATIVE_INFINITY, rows: 0 },
  nowMs: 10_000,
};
const JUST_NOW = { ...LONG_AGO, lastInsert: { atMs: 9_999, rows: 499 } };
const LARGE = { ...LONG_AGO, lastInsert: { atMs: 9_999, rows: 500 } };
const read = (rows: number): { rows: number; hasWork: boolean; openedAtMs: number } => ({
  rows,
  hasWork: rows > 0,
  openedAtMs: 10_000,
});

test.each([
  ["a single click waits briefly for others", 1, LONG_AGO, 100],
  ["after an insert, rows are collected for the rest of the half second", 9_999, JUST_NOW, 499],
  ["after a large insert, rows are collected for the rest of a second", 9_999, LARGE, 999],
  ["10,000 rows wait for nothing", 10_000, JUST_NOW, 0],
  ["a full batch waits for nothing", 1, { ...JUST_NOW, isComplete: true }, 0],
  ["messages without records are acknowledged later", 0, LONG_AGO, 1_000],
] as const)("%s", (_what, rows, state, dueInMs) => {
  expect(flushDueInMs(read(rows), state)).toBe(dueInMs);
});

test("nothing is due while nothing was read", () => {
  const nothing = { rows: 0, hasWork: false, openedAtMs: undefined };
  expect(flushDueInMs(nothing, LONG_AGO)).toBe(Number.POSITIVE_INFINITY);
});

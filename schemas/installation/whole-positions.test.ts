import { expect, test } from "vitest";
import { isWhole } from "./whole-positions.ts";

const AT = { lane: 0, producer: 7, epoch: 3 };
const stored = (rows: number, end = rows) => ({ ...AT, rows, end });
const noted = (settled: number, lost = 0, end = 0) => ({ ...AT, settled, lost, end });

test.each([
  ["nothing was ever recorded", [], [], true],
  ["all positions have rows and are noted", [stored(10)], [noted(10)], true],
  ["rows and losses together", [stored(7, 10)], [noted(10, 3, 9)], true],
  ["losses only", [], [noted(4, 4, 4)], true],
  ["losses behind the last row", [stored(6)], [noted(10, 4, 10)], true],
  ["a row is missing in between", [stored(9, 10)], [noted(9)], false],
  ["a row that was noted is missing", [stored(9)], [noted(10)], false],
  ["all rows are missing", [], [noted(10)], false],
  ["rows that no writer has noted", [stored(10)], [noted(8)], false],
  ["no notes at all", [stored(10)], [], false],
  ["a row twice", [stored(11, 10)], [noted(10)], false],
  [
    "another lane lacks a row",
    [stored(10), { ...stored(9), lane: 1 }],
    [noted(10), { ...noted(10), lane: 1 }],
    false,
  ],
  [
    "another epoch lacks a row",
    [stored(10), { ...stored(9), epoch: 4 }],
    [noted(10), { ...noted(10), epoch: 4 }],
    false,
  ],
] as const)(
  "positions are whole only if each has a row or is lost: %s",
  (_name, rows, notes, expected) => {
    expect(isWhole(rows, notes)).toBe(expected);
  },
);

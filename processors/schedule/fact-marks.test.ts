import { expect, test } from "vitest";
import { storeThatWentBack } from "./fact-marks.ts";

const mark = (number: number, token = `t${number}`) => ({ number, token });

test.each([
  ["no store, both at the start", { confirmed: mark(0, ""), pending: mark(0, "") }, mark(0, "")],
  ["no store, the round ended", { confirmed: mark(5), pending: mark(5) }, mark(5)],
  [
    "no store, the process died before ClickHouse had the mark",
    { confirmed: mark(5), pending: mark(6) },
    mark(5),
  ],
  [
    "no store, the process died before the mark was confirmed",
    { confirmed: mark(5), pending: mark(6) },
    mark(6),
  ],
] as const)("the marks of a round name %s (#2, G206)", (_, marks, newest) => {
  expect(storeThatWentBack(marks, newest)).toBeUndefined();
});

test.each([
  ["clickhouse", { confirmed: mark(5), pending: mark(5) }, mark(3)],
  ["clickhouse", { confirmed: mark(5), pending: mark(5) }, mark(0, "")],
  ["postgres", { confirmed: mark(3), pending: mark(3) }, mark(5)],
  ["postgres", { confirmed: mark(0, ""), pending: mark(0, "") }, mark(5)],
  ["postgres", { confirmed: mark(5, "a"), pending: mark(5, "a") }, mark(5, "b")],
] as const)(
  "a mark that only the other store remembers names %s (#2, G206)",
  (store, marks, newest) => {
    expect(storeThatWentBack(marks, newest)).toBe(store);
  },
);

import { expect, test } from "vitest";
import { moneySecond } from "./money-second.ts";

const named = (names: string) =>
  names.split(" ").map((name) => ({
    name,
    title: name,
    isNumber: name.startsWith("m"),
    cell: () => null,
  }));

test.each([
  ["time status money more", "time money status more"],
  ["time money status", "time money status"],
  ["time status", "time status"],
  ["time", "time"],
])("of the columns %s a phone shows %s (#39)", (columns, shown) => {
  expect(moneySecond(named(columns)).map(({ name }) => name)).toEqual(shown.split(" "));
});

import { expect, test } from "vitest";
import { type Entry, grouped, matching } from "./entries.ts";

const entry = (group: string, title: string): Entry => ({
  key: title,
  group,
  title,
  detail: "",
  path: "/",
  run: () => undefined,
});
const ENTRIES = [
  entry("Screens", "Audit log"),
  entry("Actions", "New offer"),
  entry("Screens", "Offers"),
];

test("every word has to occur, in any order and in any case", () => {
  expect(matching(ENTRIES, "OFFER new").map(({ title }) => title)).toEqual(["New offer"]);
  expect(matching(ENTRIES, "screens o").map(({ title }) => title)).toEqual(["Audit log", "Offers"]);
  expect(matching(ENTRIES, "  ")).toHaveLength(3);
  expect(matching(ENTRIES, "payout")).toEqual([]);
});

test("a heading appears once", () => {
  expect(grouped(ENTRIES).map(([name, { length }]) => [name, length])).toEqual([
    ["Screens", 2],
    ["Actions", 1],
  ]);
});

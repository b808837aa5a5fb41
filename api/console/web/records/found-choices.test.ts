import { expect, test } from "vitest";
import type { Choice } from "../client/choices.ts";
import { matchingChoices, optionsOf, withRecent } from "./found-choices.ts";

const CHOICES: readonly Choice[] = [
  ["1", "Summer shop", "SUMMER"],
  ["12", "Zürich tours", "AB2"],
  ["3", "A shop", "SHOP3"],
];
const valuesOf = (choices: readonly Choice[]) => choices.map(([value]) => value);

test("a choice is found by a part of its name, its code or its ID, without accents or case", () => {
  const found = (sought: string) => valuesOf(matchingChoices(CHOICES, sought));
  expect(found("zurich")).toEqual(["12"]);
  expect(found("ab2")).toEqual(["12"]);
  expect(found("#12")).toEqual(["12"]);
  expect(found("nothing")).toEqual([]);
  expect(found(" ")).toEqual(["1", "12", "3"]);
});

test("choices that begin with the text come first", () => {
  expect(valuesOf(matchingChoices(CHOICES, "shop"))).toEqual(["3", "1"]);
});

test("recent choices come first, once, and only while nothing is typed", () => {
  const recent: readonly Choice[] = [["3", "A shop", "SHOP3"]];
  const shown = (sought: string) => optionsOf(CHOICES, recent, sought).map((one) => one.value);
  expect(shown("")).toEqual(["3", "1", "12"]);
  expect(shown("s")).toEqual(["1", "12", "3"]);
  expect(optionsOf(CHOICES, recent, "")[0]?.isRecent).toBe(true);
});

test("five choices are remembered, the latest first, each once", () => {
  let recent: readonly Choice[] = [];
  for (const value of ["1", "2", "3", "4", "5", "6", "4"])
    recent = withRecent(recent, [value, value]);
  expect(valuesOf(recent)).toEqual(["4", "6", "5", "3", "2"]);
});

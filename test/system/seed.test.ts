import { expect, test } from "vitest";
import { chosenBySeed } from "./seed.ts";

const ITEMS = ["a", "b", "c", "d"];

test("each item is chosen about equally often over many seeds, also over seeds that follow each other", () => {
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 1_000; seed += 1) {
    const chosen = chosenBySeed(ITEMS, 2, seed);
    expect(new Set(chosen).size).toBe(2);
    for (const item of chosen) counts.set(item, (counts.get(item) ?? 0) + 1);
  }
  for (const item of ITEMS) {
    expect(counts.get(item)).toBeGreaterThan(400);
    expect(counts.get(item)).toBeLessThan(600);
  }
});

test("the same seed chooses the same items, in their order", () => {
  const chosen = chosenBySeed(ITEMS, 3, 7);
  expect(chosenBySeed(ITEMS, 3, 7)).toEqual(chosen);
  expect(chosen).toEqual(ITEMS.filter((item) => chosen.includes(item)));
});

test("more than there are is all", () => {
  expect(chosenBySeed(ITEMS, 5, 1)).toEqual(ITEMS);
});

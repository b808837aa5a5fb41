import { expect, test } from "vitest";
import { z } from "zod";
import { FAULTY_ENTRIES_MAX, listOf } from "./bounded-list.ts";

let looks = 0;
const word = z.string("expected text").refine((value) => {
  looks += 1;
  return value !== "bad";
}, "is bad");
const list = listOf(word, { expected: "expected a list", max: 1_000, tooMany: "too many" });

function faults(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("a list within its bounds is read as z.array reads it (G213)", () => {
  expect(list.parse(["a", "b"])).toEqual(["a", "b"]);
  expect(faults(list, "a")).toEqual([": expected a list"]);
  expect(faults(list, ["a", 1, "bad"])).toEqual(["1: expected text", "2: is bad"]);
  expect(faults(list.min(3, "too few"), ["a"])).toEqual([": too few"]);
  expect(z.toJSONSchema(list)).toMatchObject({ type: "array", maxItems: 1_000 });
});

test("no entry of a list that is too long is looked at (G213)", () => {
  looks = 0;
  const entries = Array.from({ length: 1_001 }, () => "bad");
  const later = list.superRefine((all) => {
    for (const entry of all) entry.trim();
  });
  for (const schema of [list, list.min(1), list.optional(), later])
    expect(faults(schema, entries)).toEqual([": too many"]);
  expect(faults(later, [...entries.slice(1), 7, {}])).toEqual([": too many"]);
  expect(looks).toBe(0);
});

test("a list is read up to its hundredth faulty entry, and says so if there is more (G213)", () => {
  looks = 0;
  const bad = Array.from({ length: FAULTY_ENTRIES_MAX }, () => "bad");
  expect(faults(list, ["a", ...bad])).toHaveLength(FAULTY_ENTRIES_MAX);
  expect(looks).toBe(1 + FAULTY_ENTRIES_MAX);
  const more = faults(list, [...bad, ...bad]);
  expect(more).toHaveLength(FAULTY_ENTRIES_MAX + 1);
  expect(more.at(-1)).toBe(": only the first 100 faulty entries are named");
  expect(looks).toBe(1 + 2 * FAULTY_ENTRIES_MAX);
});

test("faulty entries of lists within a list count as its own (G213)", () => {
  looks = 0;
  const lists = listOf(z.strictObject({ words: list }), {
    expected: "expected lists",
    max: 100,
    tooMany: "too many",
  });
  const bad = { words: Array.from({ length: 60 }, () => "bad") };
  const found = faults(lists, [bad, bad, bad, bad]);
  expect(found.at(-1)).toBe(": only the first 100 faulty entries are named");
  expect(found).toHaveLength(121);
  expect(looks).toBe(120);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { BEGINNING_VALUES, FIELDS_COUNTED_MAX, JSON_LEVELS_MAX, scanJson } from "./json-bounds.ts";
import { NameFilter } from "./name-filter.ts";

const Begun = z.object({ caps: z.record(z.string(), z.unknown()) });
const SEED = 7;
const OTHERS_MAX = 100;
const ROOM = { values: 1_000_000 };

function excessOf(text: string, bounds: Parameters<typeof scanJson>[1] = ROOM) {
  return scanJson(Buffer.from(text), bounds).excess;
}

function nested(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}[]${"}".repeat(levels - 1)}`;
}

test("JSON is read to 32 levels and no deeper, also if it never ends (G213)", () => {
  expect(excessOf(nested(JSON_LEVELS_MAX))).toBeUndefined();
  expect(excessOf(nested(JSON_LEVELS_MAX + 1))).toEqual({ kind: "levels" });
  expect(excessOf("[".repeat(100_000))).toEqual({ kind: "levels" });
  expect(excessOf(`["${"[".repeat(100)}"]`)).toBeUndefined();
});

test("values are counted at all levels, and marks inside texts are none (G213)", () => {
  const text = String.raw`{"a":[1,2,"}],[{\",\"",{"b":null}],"c,":{}}`;
  expect(excessOf(text, { values: 12 })).toBeUndefined();
  expect(excessOf(text, { values: 7 })).toEqual({ kind: "values" });
});

test("unknown fields beyond the limit are counted, and the text is cut behind the first (G213)", () => {
  const fields = { names: new NameFilter(["name", "caps"], SEED), othersMax: OTHERS_MAX };
  const unknown = Array.from({ length: 300 }, (_, index) => `"x${index}":[${index}]`).join(",");
  const text = `{"name":"a","caps":{${unknown}},"name":"b"}`;
  const excess = excessOf(text, { ...ROOM, fields });
  if (excess?.kind !== "fields") throw new Error("expected too many fields");
  const begun = Begun.parse(JSON.parse(text.slice(0, excess.cut.at) + excess.cut.closing));
  const read = Object.keys(begun.caps);
  expect(read.length).toBeGreaterThan(OTHERS_MAX);
  expect(read.length + excess.fieldsBehind).toBe(301);
});

test("of many unknown fields some more than a thousand are counted, and the rest is not read (G213)", () => {
  const fields = { names: new NameFilter([], SEED), othersMax: OTHERS_MAX };
  const unknown = Array.from({ length: 50_000 }, (_, index) => `"x${index}":1`).join(",");
  const excess = excessOf(`{${unknown}`, { ...ROOM, fields });
  expect(excess).toMatchObject({ kind: "fields", fieldsBehind: FIELDS_COUNTED_MAX + 1 });
});

test("a long text can be cut behind its first values, at any level (G213)", () => {
  const rows = Array.from({ length: 2_000 }, (_, index) => `{"a":${index},"b":[1,2]}`).join(",");
  const { beginning } = scanJson(Buffer.from(`{"rows":[${rows}]}`), ROOM);
  if (beginning === undefined) throw new Error("expected a beginning");
  const text = `{"rows":[${rows}]}`.slice(0, beginning.at) + beginning.closing;
  const { values } = sizeOf(JSON.parse(text));
  expect(values).toBeGreaterThan(BEGINNING_VALUES - 10);
  expect(values).toBeLessThan(BEGINNING_VALUES + 10);
  expect(scanJson(Buffer.from(`[${"1,".repeat(1_000)}1]`), ROOM).beginning).toBeUndefined();
});

test("some unknown fields are read, so that they can be named (G213)", () => {
  const fields = { names: new NameFilter([], SEED), othersMax: OTHERS_MAX };
  const unknown = Array.from({ length: OTHERS_MAX }, (_, index) => `"x${index}":1`);
  expect(excessOf(`{${unknown.join(",")}}`, { ...ROOM, fields })).toBeUndefined();
  expect(excessOf(`{${unknown.join(",")},"y":1}`, ROOM)).toBeUndefined();
});

test("known names are recognised whatever the seed, and few others pass (G213)", () => {
  for (const seed of [0, SEED, 2_147_483_647]) {
    const filter = new NameFilter(["name", "größe", ""], seed);
    const has = (name: string): boolean => {
      const bytes = Buffer.from(name);
      return filter.mayHave(bytes, 0, bytes.length);
    };
    expect(["name", "größe", ""].map(has)).toEqual([true, true, true]);
    const others = Array.from({ length: 10_000 }, (_, index) => `f${index}`).filter(has);
    expect(others.length).toBeLessThan(100);
  }
});

/** Levels and values of a value, counted without its text. */
function sizeOf(value: unknown): { levels: number; values: number } {
  if (typeof value !== "object" || value === null) return { levels: 0, values: 0 };
  const parts = Object.values(value).map(sizeOf);
  return {
    levels: 1 + Math.max(0, ...parts.map(({ levels }) => levels)),
    values: Math.max(1, parts.length) + parts.reduce((sum, { values }) => sum + values, 0),
  };
}

test("what the bytes say of levels and values is what the parsed value has (G213)", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(40), (value, values) => {
      const { values: found } = sizeOf(value);
      const excess = excessOf(JSON.stringify(value, undefined, 2), { values });
      expect(excess?.kind).toBe(1 + found > values ? "values" : undefined);
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { type Segment, takeRows } from "./batch.ts";
import { Intent, intentOf, isPartOf, RANGES_MAX, rangesOf, storedShare } from "./intent.ts";
import { PositionSet, type Range } from "./position-set.ts";

type At = { readonly producer?: number; readonly epoch?: number; readonly month?: number };

function segment(
  from: number,
  to: number,
  { producer = 1, epoch = 1, month = 202_601 }: At = {},
): Segment {
  const times = { fromMs: 0, toMs: 0, readAtMs: 0 };
  const at = { producer, epoch, month, from, to, ...times };
  return { ...at, bytes: Buffer.alloc(0), adClicks: [], isStored: false };
}

const OPTIONS = { after: undefined, table: "click", home: null } as const;

function known(
  settled: readonly Range[],
  lost: readonly Range[] = [],
): ReturnType<Parameters<typeof storedShare>[1]> {
  const set = new PositionSet();
  for (const [from, to] of [...settled, ...lost]) set.add(from, to);
  return { settled: set, lost };
}

test("the ranges of an intent are the positions of its rows, consecutive ones joined", () => {
  expect(
    rangesOf([segment(5, 8), segment(0, 2, { producer: 2 }), segment(2, 5), segment(9, 10)]),
  ).toEqual([
    [1, 1, 2, 8],
    [1, 1, 9, 10],
    [2, 1, 0, 2],
  ]);
});

test("each intent has the next number and a token of its own, and survives its record in Postgres", () => {
  const first = intentOf([segment(0, 2)], OPTIONS);
  const second = intentOf([segment(0, 2)], { ...OPTIONS, after: first });
  expect([first.n, second.n]).toEqual([1, 2]);
  expect(first.token).not.toBe(second.token);
  expect(Intent.parse(JSON.parse(JSON.stringify(second)))).toEqual(second);
});

test.each([
  ["none", [], []],
  ["none", [[0, 10]], []],
  ["none", [], [[10, 14]]],
  ["some", [[10, 11]], []],
  ["some", [[10, 14]], [[20, 21]]],
  ["all", [[0, 30]], []],
  ["all", [[10, 14]], [[20, 22]]],
] as const)(
  "%s of an insert is stored, by the positions in the table and those noted as lost",
  (share, settled, lost) => {
    const intent = intentOf([segment(10, 14), segment(20, 22)], OPTIONS);
    expect(storedShare(intent, () => known(settled, lost))).toBe(share);
  },
);

test("a segment is part of an insert only as a whole, and only in its month", () => {
  const intent = intentOf([segment(10, 14), segment(14, 16)], OPTIONS);
  expect(isPartOf(intent, segment(12, 16))).toBe(true);
  expect(isPartOf(intent, segment(12, 17))).toBe(false);
  expect(isPartOf(intent, segment(12, 16, { month: 202_602 }))).toBe(false);
  expect(isPartOf(intent, segment(12, 16, { producer: 2 }))).toBe(false);
  expect(isPartOf(intent, segment(12, 16, { epoch: 2 }))).toBe(false);
});

test("no intent has more ranges than its record allows, and no row is left out", () => {
  const most = { rowsMax: 1_000_000, rangesMax: RANGES_MAX };
  const rows = fc.array(fc.tuple(fc.nat(3_000), fc.integer({ min: 1, max: 3 })), {
    minLength: 1,
    maxLength: 3_000,
  });
  fc.assert(
    fc.property(rows, (all) => {
      const segments = all.map(([from, length]) => segment(from * 5, from * 5 + length));
      let taken = 0;
      while (taken < segments.length) {
        const part = takeRows(segments, taken, most);
        expect(rangesOf(part).length).toBeLessThanOrEqual(RANGES_MAX);
        taken += part.length;
      }
      expect(taken).toBe(segments.length);
    }),
    { numRuns: 20 },
  );
});

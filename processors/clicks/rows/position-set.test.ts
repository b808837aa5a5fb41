import fc from "fast-check";
import { expect, test } from "vitest";
import { PositionSet, type Range } from "./position-set.ts";

test("records in order leave no hole, and a repeated one is recognised", () => {
  const set = new PositionSet();
  expect(set.add(0, 3)).toEqual([[0, 3]]);
  expect(set.add(1, 5)).toEqual([[3, 5]]);
  expect(set.add(0, 5)).toEqual([]);
  expect([set.next, set.holes, set.size]).toEqual([5, [], 5]);
});

test("a jump leaves a hole, and later records fill it from any side", () => {
  const set = new PositionSet(2);
  expect(set.wouldJump(6)).toBe(true);
  expect(set.add(6, 8)).toEqual([[6, 8]]);
  expect(set.holes).toEqual([[2, 6]]);
  expect(set.add(3, 4)).toEqual([[3, 4]]);
  expect(set.holes).toEqual([
    [2, 3],
    [4, 6],
  ]);
  expect(set.add(0, 10)).toEqual([
    [2, 3],
    [4, 6],
    [8, 10],
  ]);
  expect(set.holes).toEqual([]);
});

test("ranges in any order give the set of their positions, each reported as new exactly once", () => {
  const range = fc.tuple(fc.nat(60), fc.nat(12)).map(([from, size]): Range => [from, from + size]);
  fc.assert(
    fc.property(fc.array(range, { maxLength: 30 }), (ranges) => {
      const set = new PositionSet();
      const model = new Set<number>();
      for (const [from, to] of ranges) {
        const fresh = set.add(from, to).flatMap(positions);
        const unknown = positions([from, to]).filter((position) => !model.has(position));
        expect(fresh.join()).toBe(unknown.join());
        for (const position of fresh) model.add(position);
      }
      expect(set.size).toBe(model.size);
      expect(set.next).toBe(Math.max(-1, ...model) + 1);
      const all = positions([0, 80]);
      const ends = [0, 1, 17, 40, 80];
      const below = ends.map((end) => [...model].filter((position) => position < end).length);
      expect(ends.map((end) => set.sizeBelow(end))).toEqual(below);
      expect(all.filter((one) => set.hasAny(one, one + 1))).toEqual(
        [...model].sort((a, b) => a - b),
      );
      const threes = all.filter(
        (one) => model.has(one) || model.has(one + 1) || model.has(one + 2),
      );
      expect(all.filter((one) => set.hasAny(one, one + 3)).join()).toBe(threes.join());
      const again = new PositionSet(set.next, set.holes);
      expect(again.size).toBe(set.size);
    }),
    { numRuns: 100 },
  );
});

function positions([from, to]: Range): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

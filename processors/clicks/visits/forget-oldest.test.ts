import fc from "fast-check";
import { expect, test } from "vitest";
import { forgetOldest } from "./forget-oldest.ts";
import { VisitTable } from "./visit-table.ts";

const START_MS = Date.UTC(2026, 0, 1);

/** Takes all steps of a work. */
function endOf<Result>(steps: Generator<unknown, Result, void>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Times of each class, ascending. */
function timesOf(table: VisitTable): Map<number, number[]> {
  const times = new Map<number, number[]>();
  const steps = table.forEach((offerClass, atMs) => {
    const known = times.get(offerClass);
    if (known === undefined) times.set(offerClass, [atMs]);
    else known.push(atMs);
  });
  endOf(steps);
  for (const known of times.values()) known.sort((a, b) => a - b);
  return times;
}

function tableOf(visits: readonly (readonly [offerClass: number, atMs: number])[]): VisitTable {
  const table = new VisitTable({ entriesMax: 1_000, dropBeforeMs: () => Number.NEGATIVE_INFINITY });
  for (const [visitor, [offerClass, atMs]] of visits.entries()) {
    table.seek({ offerId: offerClass, affiliateId: 1, visitor });
    table.put(offerClass, atMs);
  }
  return table;
}

test("the latest visits of each class stay, down to a level that all large classes share", () => {
  const visit = fc.tuple(
    fc.constantFrom(0, 0, 0, 1, 1, 7, 4_095),
    fc.oneof(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 100_000 }),
      // Beyond 32 and 33 bits.
      fc.constantFrom(2 ** 32, 2 ** 33 + 1, 2 ** 35 - 1),
    ),
  );
  fc.assert(
    fc.property(fc.array(visit, { minLength: 1, maxLength: 120 }), fc.nat(100), (visits, kept) => {
      const table = tableOf(visits.map(([offerClass, at]) => [offerClass, START_MS + at]));
      const before = timesOf(table);
      fc.pre(visits.length > kept);
      const ofAll = visits.map(([, at]) => START_MS + at);
      const span = { fromMs: Math.min(...ofAll), toMs: Math.max(...ofAll) };
      const forgotten = endOf(forgetOldest(table, kept, span));
      const after = timesOf(table);
      expect(table.tally.size).toBe(visits.length - forgotten.visits);
      expect(table.tally.size).toBeLessThanOrEqual(kept);
      const level = Math.max(...[...before.keys()].map((one) => after.get(one)?.length ?? 0));
      for (const [offerClass, times] of before) {
        const left = after.get(offerClass) ?? [];
        expect(left).toEqual(times.slice(times.length - Math.min(level, times.length)));
        expect(table.tally.ofClass[offerClass]).toBe(left.length);
      }
      // One more for each cut class would not fit.
      const cut = [...before.values()].filter((times) => times.length > level).length;
      expect(table.tally.size + cut).toBeGreaterThan(kept);
      const largest = before.get(forgotten.offerClass) ?? [];
      expect(largest.length).toBe(Math.max(...[...before.values()].map(({ length }) => length)));
      const knownFromMs = level > 0 ? largest[largest.length - level] : forgotten.knownFromMs;
      expect(forgotten.knownFromMs).toBe(knownFromMs);
    }),
    { numRuns: 30 },
  );
});

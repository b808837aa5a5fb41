import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

test("it holds what was set last, in that order, and forgets what was set longest ago", () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer()), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (sets) => {
      const recent = new RecentMap<number>(5);
      const model = new Map<string, number>();
      for (const [key, value] of sets) {
        recent.set(String(key), value);
        model.delete(String(key));
        model.set(String(key), value);
        const [oldest] = model.keys();
        if (model.size > 5 && oldest !== undefined) model.delete(oldest);
        expect([...recent.entries()]).toEqual([...model]);
        expect(recent.size).toBe(model.size);
        expect(recent.get(String(key))).toBe(value);
      }
    }),
    { numRuns: 200 },
  );
});

/** Microseconds of processor time a key. */
function costOf(sets: () => void, count: number): number {
  const startedAt = process.cpuUsage();
  sets();
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / count;
}

test("a key costs the same whether it is new, known or in the place of an old one (#0, P40)", () => {
  const count = 40_000;
  const recent = new RecentMap<number>(count);
  const setAll = (prefix: string): (() => void) => {
    return () => {
      for (let index = 0; index < count; index += 1) recent.set(`${prefix}-${index}`, index);
    };
  };
  const filling = costOf(setAll("first"), count);
  const replacing = costOf(setAll("second"), count);
  const same = costOf(() => {
    for (let index = 0; index < count; index += 1) recent.set("second-7", index);
  }, count);
  expect(recent.size).toBe(count);
  // With a Map alone, replacing cost 16 times as much as filling. The factor leaves room for a busy machine.
  expect(replacing / filling).toBeLessThan(5);
  expect(same / filling).toBeLessThan(5);
});

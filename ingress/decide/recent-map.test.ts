import fc from "fast-check";
import { expect, test } from "vitest";
import { processorTimeRatio } from "../../test/samples/processor-time.ts";
import { RecentMap } from "./recent-map.ts";

test("it keeps the latest values in order, and forgets the oldest", () => {
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

test("a key costs the same whether it is new, already present or replaces an old one (#0, P40)", () => {
  const count = 40_000;
  const setAll = (recent: RecentMap<number>, prefix: string): void => {
    for (let index = 0; index < count; index += 1) recent.set(`${prefix}-${index}`, index);
  };
  const full = new RecentMap<number>(count);
  setAll(full, "first");
  let turn = 0;
  const usual = (): void => setAll(new RecentMap<number>(count), "first");
  const replace = (): void => setAll(full, `turn-${(turn += 1)}`);
  const repeat = (): void => {
    for (let index = 0; index < count; index += 1) full.set("first-7", index);
  };
  // With a Map alone, replacing cost 16 times as much as filling.
  expect(processorTimeRatio({ usual, other: replace }, 5)).toBeLessThan(5);
  expect(processorTimeRatio({ usual, other: repeat }, 5)).toBeLessThan(5);
  expect(full.size).toBe(count);
});

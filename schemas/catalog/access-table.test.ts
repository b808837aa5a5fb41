import fc from "fast-check";
import { expect, test } from "vitest";
import { AccessTable } from "./access-table.ts";

const id = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 2 ** 26 - 1 }));
const status = fc.constantFrom("approved", "pending", "rejected");
const step = fc.record({
  offer_id: id,
  affiliate_id: id,
  status: fc.option(status, { nil: undefined }),
  terms_accepted: fc.boolean(),
});

test("the table of access records answers as a map does, whatever is set, changed and removed", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 300, size: "max" }), (steps) => {
      const table = new AccessTable();
      const model = new Map<string, object>();
      const wrong: string[] = [];
      for (const { status: given, ...rest } of steps) {
        const { offer_id, affiliate_id, terms_accepted } = rest;
        const key = `${offer_id}-${affiliate_id}`;
        if (given === undefined) {
          table.delete(offer_id, affiliate_id);
          model.delete(key);
        } else {
          table.set({ ...rest, status: given });
          model.set(key, { ...rest, status: given });
        }
        const known = table.get(offer_id, affiliate_id);
        if (known?.status !== given || (known?.terms_accepted ?? terms_accepted) !== terms_accepted)
          wrong.push(`${key} is ${JSON.stringify(known)}`);
      }
      expect(wrong).toEqual([]);
      expect(table.size).toBe(model.size);
      const all = [...table.all()].map((record) => [
        `${record.offer_id}-${record.affiliate_id}`,
        record,
      ]);
      expect(Object.fromEntries(all)).toEqual(Object.fromEntries(model));
    }),
    { numRuns: 10 },
  );
});

test("removing and setting again for ever leaves the newest record alone, and searches still end", () => {
  const table = new AccessTable();
  for (let i = 1; i <= 100_000; i += 1) {
    table.set({ offer_id: i, affiliate_id: i, status: "approved", terms_accepted: false });
    table.delete(i - 1, i - 1);
  }
  expect(table.size).toBe(1);
  expect(table.get(100_000, 100_000)?.status).toBe("approved");
  expect(table.get(99_999, 99_999)).toBeUndefined();
});

test("a table that has grown many times still finds every record, and none that is not there", () => {
  const table = new AccessTable();
  const pair = (i: number): [number, number] => [1 + (i % 97), 1 + Math.floor(i / 97)];
  for (let i = 0; i < 20_000; i += 1) {
    const [offer_id, affiliate_id] = pair(i);
    table.set({ offer_id, affiliate_id, status: "pending", terms_accepted: i % 2 === 0 });
  }
  const wrong = Array.from({ length: 25_000 }, (_, i) => i).filter((i) => {
    const accepted = table.get(...pair(i))?.terms_accepted;
    return accepted !== (i < 20_000 ? i % 2 === 0 : undefined);
  });
  expect(wrong).toEqual([]);
});

import { expect, test } from "vitest";
import { partsOf, sendRows } from "./send-rows.ts";

test("no row is lost or sent twice, and no part is larger than a request may be", () => {
  const rows = Array.from({ length: 620 }, (_, at) => at);
  const parts = partsOf(rows, 500);
  expect(parts.map(({ length }) => length)).toEqual([500, 120]);
  expect(parts.flat()).toEqual(rows);
  expect(partsOf(rows, 620)).toHaveLength(1);
  expect(partsOf([], 500)).toEqual([]);
});

const ROWS = {
  kind: "numbers",
  keyOf: String,
  what: (rows: readonly number[]) => `${rows.length} numbers`,
  names: [],
  size: 2,
};
const WAY = { isLeaving: false, onSent: () => undefined };

test("a row that somebody else has changed is not sent, and is named", async () => {
  const parts: (readonly number[])[] = [];
  const changed = { key: "2", name: "2", why: "was changed meanwhile" };
  const sent = await sendRows(
    {
      ...ROWS,
      findChanged: async () => await Promise.resolve([changed]),
      send: async (part) => {
        parts.push(part);
        return await Promise.resolve([]);
      },
    },
    [1, 2, 3, 4],
    "rejected",
    WAY,
  );
  expect(parts).toEqual([[1, 3], [4]]);
  expect(sent).toEqual({ done: ["1", "3", "4"], skipped: [changed], left: [] });
});

test("after a failure it is known which rows are done and which are not", async () => {
  const error = new Error("away");
  let calls = 0;
  const sent = await sendRows(
    {
      ...ROWS,
      send: async () => {
        calls += 1;
        return await (calls === 2 ? Promise.reject(error) : Promise.resolve([]));
      },
    },
    [1, 2, 3, 4, 5],
    "rejected",
    WAY,
  );
  expect(sent).toEqual({ done: ["1", "2"], skipped: [], left: ["3", "4", "5"], error });
});

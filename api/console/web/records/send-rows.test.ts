import { expect, test } from "vitest";
import { partsOf } from "./send-rows.ts";

test("no row is lost or sent twice, and no part is larger than a request may be", () => {
  const rows = Array.from({ length: 620 }, (_, at) => at);
  const parts = partsOf(rows, 500);
  expect(parts.map(({ length }) => length)).toEqual([500, 120]);
  expect(parts.flat()).toEqual(rows);
  expect(partsOf(rows, 620)).toHaveLength(1);
  expect(partsOf([], 500)).toEqual([]);
});

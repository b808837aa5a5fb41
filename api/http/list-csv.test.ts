import { expect, test } from "vitest";
import { listCsv } from "./list-csv.ts";

test("a CSV ends after 200,000 rows, and has no more than a page of them in memory", async () => {
  let longest = 0;
  const pieces = listCsv<number>({
    fields: ["n"],
    numbers: new Set(),
    read: (after, rowsMax) => {
      longest = Math.max(longest, rowsMax);
      return Promise.resolve(
        Array.from({ length: rowsMax }, (_, index) => (after ?? 0) + index + 1),
      );
    },
    show: (rows) => rows.map((n) => ({ n })),
  });
  let lines = 0;
  let last = "";
  for await (const piece of pieces) {
    lines += piece.split("\r\n").length - 1;
    last = piece;
  }
  expect(lines).toBe(1 + 200_000);
  expect(last.endsWith("\r\n200000\r\n")).toBe(true);
  expect(longest).toBe(1_000);
});

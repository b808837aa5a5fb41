import { expect, test } from "vitest";
import { lineOf } from "./csv-lines.ts";

test("a rejected row is found by its line, where empty lines and the header are no rows", () => {
  const csv = "date,amount\r\n\r\n2026-11-24,1\n2026-11-25,x\n";
  expect(lineOf(csv, 2)).toEqual({ number: 4, text: "2026-11-25,x" });
});

test("no line is named if a quoted cell may hide line breaks", () => {
  expect(lineOf('a,b\n"1\n2",3\nx,y', 2)).toBeUndefined();
});

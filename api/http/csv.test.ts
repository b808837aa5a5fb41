import { expect, test } from "vitest";
import { csvLine, numberCell, textCell } from "./csv.ts";

test.each([
  ["plain", "plain"],
  ["a,b", '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ["two\r\nlines", '"two\r\nlines"'],
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@a", "'@a"],
  ["\t=1", "'\t=1"],
  ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
] as const)("%j is written as %j (G77)", (text, cell) => {
  expect(textCell(text)).toBe(cell);
});

test("numbers keep their sign, nothing is an empty cell, lines end with CRLF (G77)", () => {
  expect(csvLine([numberCell("-1.0000"), numberCell(null), numberCell(0.5)])).toBe(
    "-1.0000,,0.5\r\n",
  );
});

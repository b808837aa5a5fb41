import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonParameter } from "./json-parameter.ts";

test("no text from a sender makes JSON that Postgres refuses, and plain text stays unchanged", () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.integer({ min: 0, max: 0xffff })), (plain, units) => {
      const text = jsonParameter({ plain, torn: String.fromCharCode(...units) });
      // No escape of NUL or of a lone surrogate, unless the backslash itself is escaped.
      expect(text).not.toMatch(/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/);
      expect(JSON.parse(text)).toHaveProperty("torn");
    }),
    { numRuns: 50 },
  );
  expect(jsonParameter({ a: "\\u0000 ü 😀" })).toBe(JSON.stringify({ a: "\\u0000 ü 😀" }));
});

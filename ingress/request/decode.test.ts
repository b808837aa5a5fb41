import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeComponent, decodePercent, plusAsSpace } from "./decode.ts";

test("every encoded text decodes to itself", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(decodePercent(encodeURIComponent(text))).toBe(text);
      expect(decodeComponent(encodeURIComponent(text).replaceAll("%20", "+"))).toBe(text);
    }),
  );
});

test.each([
  ["100%", "100%"],
  ["%zz%4", "%zz%4"],
  ["%41%4", "A%4"],
  ["%2541", "%41"],
  ["a+b%2Bc", "a b+c"],
  ["%FF", "\uFFFD"],
  ["%C3%A9é", "éé"],
])("%s reads as %s: decoded once, never refused", (text, decoded) => {
  expect(decodeComponent(text)).toBe(decoded);
});

test("a plus is a space in texts of any length, and nothing else changes (G213)", () => {
  const text = fc.string({
    unit: fc.constantFrom("+", "a", "é", "%2B", "\u{1f600}"),
    maxLength: 600,
  });
  fc.assert(
    fc.property(text, (given) => {
      expect(plusAsSpace(given)).toBe(given.replaceAll("+", " "));
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { digitsKept, numbersAsTexts, plainDecimal } from "./number-texts.ts";

const NONE: ReadonlySet<string> = new Set();

test("every number becomes a text with its own digits, and nothing else changes (G218)", () => {
  const json = String.raw`{"a":7300000000000000001,"b":[10.50,-1,true,null],"c":"12 \" 13","\\":1.0,"1":"2"}`;
  expect(JSON.parse(numbersAsTexts(json))).toEqual({
    a: "7300000000000000001",
    b: ["10.50", "-1", true, null],
    c: '12 " 13',
    "\\": "1.0",
    "1": "2",
  });
});

test.each([
  ["1e3", "1000"],
  ["1.0E7", "10000000"],
  ["1.5e+3", "1500"],
  ["1e-7", "0.0000001"],
  ["12.34e-1", "1.234"],
  ["12.34e1", "123.4"],
  ["-2.5e1", "-25"],
  ["0.001e3", "1"],
  ["-0", "0"],
  ["-0.0", "0.0"],
  ["5.551115123125783e-17", "0.000000000000000055511151231257"],
  ["1e99", "1e99"],
  ["1e-99", "1e-99"],
])("the number %s is %s without its exponent (G218)", (number, plain) => {
  expect(plainDecimal(number)).toBe(plain);
});

test("a number without its exponent is the same number (G218)", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: 1e-7, max: 1e30 }), (value) => {
      expect(Number(plainDecimal(JSON.stringify(value)))).toBe(value);
    }),
  );
});

test("a whole number that a float would change is a text; named fields keep all digits (G218)", () => {
  const json = '{"id":9007199254740993,"n":9007199254740991,"txid":10.50,"m":1.0,"x":{"txid" : 7}}';
  expect(JSON.parse(digitsKept(json, NONE))).toEqual({
    id: "9007199254740993",
    n: 9_007_199_254_740_991,
    txid: 10.5,
    m: 1,
    x: { txid: 7 },
  });
  expect(JSON.parse(digitsKept(json, new Set(["txid"])))).toMatchObject({
    txid: "10.50",
    m: 1,
    x: { txid: "7" },
  });
  expect(digitsKept('["txid",5]', new Set(["txid"]))).toBe('["txid",5]');
});

test("values other than numbers come out as they went in (G218)", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = JSON.stringify(value);
      const kept: unknown = JSON.parse(digitsKept(json, NONE), (_key, member: unknown) =>
        typeof member === "string" && /^-?\d{16,}$/.test(member) ? Number(member) : member,
      );
      expect(kept).toEqual(JSON.parse(json));
      const texts: unknown = JSON.parse(numbersAsTexts(json), (_key, member: unknown) =>
        typeof member === "number" ? "a number is left" : member,
      );
      expect(JSON.stringify(texts)).not.toContain("a number is left");
    }),
  );
});

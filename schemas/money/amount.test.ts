import fc from "fast-check";
import { expect, test } from "vitest";
import {
  amountFault,
  amountOf,
  formatAmount,
  parseAmount,
  parseSentAmount,
  percentOf,
  scaleAmount,
} from "./amount.ts";

const anyAmount = fc.bigInt({ min: 0n, max: 10n ** 18n - 1n });

test("every amount survives being written and read", () => {
  fc.assert(fc.property(anyAmount, (amount) => parseAmount(formatAmount(amount)) === amount));
  fc.assert(fc.property(anyAmount, (amount) => amountOf(formatAmount(-amount)) === -amount));
});

test("money in requests has at most four decimals and no sign, exponent or space (ENV-007)", () => {
  for (const text of [
    "1.23456",
    "abc",
    "1e3",
    "-1",
    "+1",
    "",
    " 1",
    "1.",
    ".5",
    "1,5",
    "123456789012345",
  ]) {
    expect(parseAmount(text), text).toBeUndefined();
  }
  expect(parseAmount("10.5")).toBe(105_000n);
});

test.each([
  ["3.3000000000000003", 33_000n],
  ["49.", 490_000n],
  [".5", 5_000n],
  ["+5", 50_000n],
  ["0.00005", 1n],
  ["0.00004999999999999999999999999", 0n],
  ["1.99995", 20_000n],
  [`0.${"9".repeat(30)}`, 10_000n],
  ["00012.50", 125_000n],
])(
  "the amount %s of a shop is read and rounded half away from zero (G23, G219)",
  (text, amount) => {
    expect(parseSentAmount(text)).toBe(amount);
  },
);

test.each<[string, string]>([
  ["1e3", "has an exponent: write all digits, such as 1200.50"],
  ["5.5E-17", "has an exponent: write all digits, such as 1200.50"],
  [`0.${"1".repeat(31)}`, "has more than 30 decimals"],
  ["123456789012345", "is too large"],
  ["49,90", "has a comma: write 1200.50, not 1,200.50 or 1200,50"],
  ["1,200.50", "has a comma: write 1200.50, not 1,200.50 or 1200,50"],
  ...[".", "+", "", "1.2.3", "$5", "5 EUR", "++5", "0x10", "NaN"].map((text): [string, string] => [
    text,
    "is not a plain decimal such as 1200.50",
  ]),
])("the amount %j is refused, because it %s (G219)", (text, fault) => {
  expect([parseSentAmount(text), amountFault(text)]).toEqual([undefined, fault]);
});

test("a negative amount is refused by the error itself (PB-047, PB-055)", () => {
  expect([parseSentAmount("-1"), amountFault("-1")]).toEqual([undefined, undefined]);
});

test("an amount with four decimals is read as in our databases, whatever follows (G219)", () => {
  fc.assert(
    fc.property(anyAmount, fc.stringMatching(/^[0-9]{0,26}$/), (amount, more) => {
      const read = parseSentAmount(formatAmount(amount) + more) ?? -1n;
      expect(read - amount).toBe(more > "5" || more.startsWith("5") ? 1n : 0n);
    }),
  );
});

test("a percentage is rounded half away from zero to a ten-thousandth (G23)", () => {
  expect(percentOf(2_000_000n, 100_000n)).toBe(200_000n);
  expect(percentOf(1n, 500_000n)).toBe(1n);
  expect(percentOf(1n, 499_999n)).toBe(0n);
  expect(percentOf(-1n, 500_000n)).toBe(-1n);
});

test("a conversion rounds once and keeps the magnitude of the sign", () => {
  fc.assert(
    fc.property(anyAmount, fc.bigInt({ min: 1n, max: 10n ** 12n }), (amount, rate) => {
      expect(scaleAmount(amount, rate, rate)).toBe(amount);
      expect(scaleAmount(-amount, rate, 7n)).toBe(-scaleAmount(amount, rate, 7n));
    }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { amountOf, formatAmount, parseAmount, percentOf, scaleAmount } from "./amount.ts";

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

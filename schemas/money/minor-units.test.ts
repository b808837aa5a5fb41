import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAmount, parseAmount } from "./amount.ts";
import { CURRENCY_CODES } from "./currencies.ts";
import { cutToCoins, formatCoins, minorDigits, roundToCoins } from "./minor-units.ts";

const amountOf = (text: string): bigint => {
  const amount = parseAmount(text.replace("-", "")) ?? 0n;
  return text.startsWith("-") ? -amount : amount;
};

test.each([
  ["EUR", "10.0149", "10.0100", "10.0100", "10.01"],
  ["EUR", "10.0150", "10.0100", "10.0200", "10.01"],
  ["EUR", "-0.0199", "-0.0100", "-0.0200", "-0.01"],
  ["JPY", "1840.5500", "1840.0000", "1841.0000", "1840"],
  ["KWD", "1.2345", "1.2340", "1.2350", "1.234"],
  ["USD", "0.0049", "0.0000", "0.0000", "0.00"],
])("%s: %s is cut to %s, rounded to %s and written %s (N6, N48)", (currency, text, ...expected) => {
  const amount = amountOf(text);
  expect([
    formatAmount(cutToCoins(amount, currency)),
    formatAmount(roundToCoins(amount, currency)),
    formatCoins(amount, currency),
  ]).toEqual(expected);
});

test("what is cut off is less than a coin, and nothing is lost (N48)", () => {
  const currencies = fc.constantFrom(...CURRENCY_CODES);
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
      currencies,
      (amount, currency) => {
        const cut = cutToCoins(amount, currency);
        const coin = 10n ** BigInt(4 - minorDigits(currency));
        const rest = amount - cut;
        expect(cut % coin).toBe(0n);
        expect(rest * (amount < 0n ? -1n : 1n)).toBeLessThan(coin);
        expect(rest < 0n === amount < 0n || rest === 0n).toBe(true);
      },
    ),
  );
});

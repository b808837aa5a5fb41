import fc from "fast-check";
import { expect, test } from "vitest";
import { amountOf } from "../money/amount.ts";
import { settle } from "./settle.ts";

const settled = (currency: string, total: string, minPayout?: string) =>
  settle({
    currency,
    total: amountOf(total),
    minPayout: minPayout === undefined ? undefined : amountOf(minPayout),
    tax: { mode: "none", rate: "0" },
  });

test.each([
  ["EUR", "49.9999", "50", "carried", 0n],
  ["EUR", "50.0099", "50", "draft", 500_000n],
  ["EUR", "0", "0", "carried", 0n],
  ["EUR", "-3", "0", "carried", 0n],
  ["EUR", "0.0099", "0", "carried", 0n],
  ["JPY", "1840.5500", "0", "draft", 18_400_000n],
  ["KWD", "1.2345", "0", "draft", 12_340n],
  ["EUR", "1000", undefined, "carried", 0n],
])("%s %s with the minimum %s is %s (N48)", (currency, total, minimum, ...expected) => {
  const { status, payable } = settled(currency, total, minimum);
  expect([status, payable]).toEqual(expected);
});

test("nothing is lost: payable and carried out add up to the total (N48)", () => {
  const amounts = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
  fc.assert(
    fc.property(amounts, amounts, fc.constantFrom("EUR", "JPY", "KWD"), (total, min, currency) => {
      const { payable, carriedOut } = settle({
        currency,
        total,
        minPayout: min,
        tax: { mode: "domestic", rate: "19" },
      });
      return payable + carriedOut === total && payable >= 0n;
    }),
  );
});

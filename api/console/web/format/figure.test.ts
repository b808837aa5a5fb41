import { expect, test } from "vitest";
import { exact, formatFigure } from "./figure.ts";
import { formatMoney, formatSum } from "./money.ts";

test.each([
  ["6340.3620", "USD", "$6,340.36"],
  ["6340.3650", "USD", "$6,340.37"],
  ["-0.0050", "USD", "-$0.01"],
  ["99999999999999.9949", "USD", "$99,999,999,999,999.99"],
  ["31.5035", "JPY", "\u00A532"],
])(
  "a sum of %s in %s is shown in coins, without a float in between (#39)",
  (text, currency, shown) => {
    expect(formatSum(text, currency, "en-US")).toBe(shown);
  },
);

test("a price keeps what is below the smallest coin, and a rounded sum names its whole amount (#39)", () => {
  expect(formatFigure("0.0125", "price", "USD")).toBe(formatMoney("0.0125", "USD"));
  expect(formatMoney("0.0125", "USD", "en-US")).toBe("$0.0125");
  expect(exact("6340.3620", "money", "USD")).toBe(formatMoney("6340.3620", "USD"));
  expect(exact("6340.3600", "money", "USD")).toBeUndefined();
  expect(exact("0.0125", "price", "USD")).toBeUndefined();
});

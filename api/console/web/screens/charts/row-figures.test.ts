import { describe, expect, test } from "vitest";
import { figuresIn, shownAmounts } from "./row-figures.ts";

const row = (offer: number, currency: string, payout: string, clicks = 1) => ({
  offer,
  currency,
  clicks,
  conversions: 2,
  payout,
  revenue: payout,
  profit: "-0.5000",
});

describe("figures of the rows of a list", () => {
  test("counts are added over currencies, money stands apart by its currency", () => {
    const data = [row(1, "USD", "12.5000"), row(1, "EUR", "3.0000", 4), row(2, "EUR", "0.0000")];
    const figures = figuresIn({ data, total_rows: 3, currency: "USD" }, "offer", [1, 2, 3]);
    expect(figures.get(1)?.counts).toEqual({ clicks: 5, conversions: 4 });
    expect(figures.get(1)?.money.payout).toEqual([
      { currency: "USD", text: "12.5000" },
      { currency: "EUR", text: "3.0000" },
    ]);
    expect(figures.get(2)?.money.profit).toEqual([{ currency: "EUR", text: "-0.5000" }]);
    expect(figures.get(3)).toEqual({
      counts: { clicks: 0, conversions: 0 },
      money: { payout: [], revenue: [], profit: [] },
    });
  });

  test("a report that was cut gives no figures rather than small ones", () => {
    const data = [row(1, "USD", "12.5000")];
    expect(() => figuresIn({ data, total_rows: 2, currency: "USD" }, "offer", [1])).toThrow(
      "too long",
    );
  });

  test("a zero is shown only where there is nothing else, in the currency of the record", () => {
    const zero = { currency: "USD", text: "0.0000" };
    const some = { currency: "EUR", text: "0.0100" };
    expect(shownAmounts([zero, some], "USD")).toEqual([some]);
    expect(shownAmounts([zero], "EUR")).toEqual([{ currency: "EUR", text: "0" }]);
    expect(shownAmounts([], "JPY")).toEqual([{ currency: "JPY", text: "0" }]);
  });
});

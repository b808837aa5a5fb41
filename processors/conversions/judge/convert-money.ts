import { AMOUNT_STORED_MAX, type Amount, scaleAmount } from "../../../schemas/money/amount.ts";
import type { ExchangeRate } from "../../../schemas/postgres/exchange-rates.ts";
import type { GivenMoney } from "../report/report-params.ts";

const SHOWN_DIGITS = 6n;

/** Converts the amounts at the rate. Rounds each amount once. */
export function convertMoney(given: GivenMoney, rate: ExchangeRate | undefined): GivenMoney {
  if (rate === undefined) return given;
  const convert = (amount: Amount | undefined): Amount | undefined =>
    amount === undefined ? undefined : scaleAmount(amount, rate.numerator, rate.denominator);
  return {
    saleAmount: convert(given.saleAmount),
    revenue: convert(given.revenue),
    payout: convert(given.payout),
  };
}

/** The first amount that a conversion cannot store: exchange into a currency of small units may make an amount of 15 digits. */
export function oversizedAmount(
  given: GivenMoney,
): "sale_amount" | "revenue" | "payout" | undefined {
  const { saleAmount = 0n, revenue = 0n, payout = 0n } = given;
  if (saleAmount > AMOUNT_STORED_MAX) return "sale_amount";
  if (revenue > AMOUNT_STORED_MAX) return "revenue";
  return payout > AMOUNT_STORED_MAX ? "payout" : undefined;
}

/** A rate for display: six decimals. */
export function formatRate(rate: ExchangeRate): string {
  const scaled = scaleAmount(10n ** SHOWN_DIGITS, rate.numerator, rate.denominator).toString();
  const padded = scaled.padStart(Number(SHOWN_DIGITS) + 1, "0");
  return `${padded.slice(0, -Number(SHOWN_DIGITS))}.${padded.slice(-Number(SHOWN_DIGITS))}`;
}

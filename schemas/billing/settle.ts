import { type Amount, scaleAmount } from "../money/amount.ts";
import { cutToCoins, minorDigits } from "../money/minor-units.ts";

/** What decides how a statement ends. */
export type Settled = {
  readonly currency: string;
  /** What was carried in and the entries of the range. */
  readonly total: Amount;
  /** In `currency`; undefined where the minimum is in another currency and the day has no rate. */
  readonly minPayout: Amount | undefined;
  /** Percent in ten-thousandths. */
  readonly taxRate: Amount;
};

export type Settlement = {
  readonly status: "draft" | "carried";
  readonly payable: Amount;
  readonly tax: Amount;
  readonly carriedOut: Amount;
};

const DECIMALS = 4;
/** 100 percent in ten-thousandths. */
const PERCENT_WHOLE = 1_000_000n;

/**
 * Whole coins are paid, and what is less than a coin is carried. A total that is not above zero, or below the minimum, is carried as a whole
 * (N48). Nothing is lost: total = payable + carriedOut.
 */
export function settle({ currency, total, minPayout, taxRate }: Settled): Settlement {
  const coins = cutToCoins(total, currency);
  if (coins <= 0n || minPayout === undefined || total < minPayout)
    return { status: "carried", payable: 0n, tax: 0n, carriedOut: total };
  return {
    status: "draft",
    payable: coins,
    tax: taxOn(coins, taxRate, currency),
    carriedOut: total - coins,
  };
}

/** Tax in whole coins, rounded half away from zero, once. */
export function taxOn(amount: Amount, rate: Amount, currency: string): Amount {
  const coin = 10n ** BigInt(DECIMALS - minorDigits(currency));
  return scaleAmount(amount, rate, PERCENT_WHOLE * coin) * coin;
}

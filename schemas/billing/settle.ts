import type { Amount } from "../money/amount.ts";
import { cutToCoins } from "../money/minor-units.ts";
import { type TaxRecord, taxOf } from "./tax-of.ts";

/** What decides how a statement ends. */
export type Settled = {
  readonly currency: string;
  /** What was carried in and the entries of the range. */
  readonly total: Amount;
  /** In `currency`; undefined where the minimum is in another currency and the day has no rate. */
  readonly minPayout: Amount | undefined;
  readonly tax: TaxRecord;
};

export type Settlement = {
  readonly status: "draft" | "carried";
  readonly payable: Amount;
  readonly tax: Amount;
  readonly carriedOut: Amount;
};

/**
 * Whole coins are paid, and what is less than a coin is carried. A total that is not above zero, or below the minimum, is carried as a whole
 * (N48). Nothing is lost: total = payable + carriedOut.
 */
export function settle({ currency, total, minPayout, tax }: Settled): Settlement {
  const coins = cutToCoins(total, currency);
  if (coins <= 0n || minPayout === undefined || total < minPayout)
    return { status: "carried", payable: 0n, tax: 0n, carriedOut: total };
  return {
    status: "draft",
    payable: coins,
    tax: taxOf(coins, tax, currency),
    carriedOut: total - coins,
  };
}

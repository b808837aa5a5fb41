import {
  AMOUNT_SCALE_DIGITS,
  type Amount,
  amountOf,
  formatAmount,
  scaleAmount,
} from "../money/amount.ts";
import { minorDigits } from "../money/minor-units.ts";

/** How tax is added to a document: a record of the partner or the advertiser, or none. */
export type TaxRecord = {
  readonly mode: "none" | "domestic" | "reverse_charge" | "exempt";
  /** Percent with four decimals. */
  readonly rate: string;
};

/** 100 percent in ten-thousandths of a percent. */
const WHOLE = 100n * 10n ** BigInt(AMOUNT_SCALE_DIGITS);

/** The tax on an amount in coins of its currency, rounded once, half away from zero (N48). Only domestic tax is more than 0. */
export function taxOf(payable: Amount, { mode, rate }: TaxRecord, currency: string): Amount {
  if (mode !== "domestic") return 0n;
  const coin = 10n ** BigInt(AMOUNT_SCALE_DIGITS - minorDigits(currency));
  return scaleAmount(payable, amountOf(rate), WHOLE * coin) * coin;
}

/** What a document says about its tax. `text` is what the workspace prints on documents without domestic tax. */
export function taxOnDocument(
  { mode, rate }: TaxRecord,
  text: string,
): { readonly mode: string; readonly rate: string; readonly text: string } {
  const shownRate = mode === "domestic" ? rate : formatAmount(0n);
  return {
    mode,
    rate: shownRate,
    text: mode === "reverse_charge" ? text || "Reverse charge" : text,
  };
}

import { amountOf, formatAmount } from "../../../schemas/money/amount.ts";
import { cutToCoins, formatCoins } from "../../../schemas/money/minor-units.ts";

/** Name, address and numbers of a side. */
export type DocumentParty = Readonly<Record<string, string>>;

/** A statement or an invoice as it is printed: every form of it shows exactly these texts. */
export type BillingDocument = {
  /** `en`, `de`. Decides the names of the parts, not the texts that are given here. */
  readonly language: string;
  readonly title: string;
  readonly number: string;
  readonly issued_on: string;
  readonly due_on: string;
  readonly currency: string;
  readonly issuer: DocumentParty;
  readonly recipient: DocumentParty;
  /** First and last day. */
  readonly period: { readonly from: string; readonly to: string; readonly tz: string };
  readonly lines: readonly DocumentLine[];
  readonly totals: readonly DocumentTotal[];
  /** Such as what is said about tax. */
  readonly notes: readonly string[];
};

export type DocumentLine = {
  readonly text: string;
  readonly count: number;
  readonly amount: string;
};

export type DocumentTotal = {
  readonly text: string;
  readonly amount: string;
  /** What is to be paid. */
  readonly is_main: boolean;
};

/** An amount as documents show it: in coins, with all four decimals where it is no whole number of them. */
export function printedAmount(stored: string, currency: string): string {
  const amount = amountOf(stored);
  return cutToCoins(amount, currency) === amount
    ? formatCoins(amount, currency)
    : formatAmount(amount);
}

/** Lines of an address block, without empty ones. */
export function linesOfParty(
  party: DocumentParty,
  { vatId }: { readonly vatId: string },
): string[] {
  const { name = "", address = "", country = "", vat_id = "", iban = "", bic = "" } = party;
  return [
    name,
    ...address.split(/\r?\n/),
    country,
    vat_id === "" ? "" : `${vatId} ${vat_id}`,
    iban === "" ? "" : `IBAN ${iban}`,
    bic === "" ? "" : `BIC ${bic}`,
  ].filter((line) => line.trim() !== "");
}

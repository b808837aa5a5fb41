import type { PAYMENT_TERMS } from "../../schemas/billing/periods.ts";

/** How an advertiser pays, of an offer. Events have the first two. */
export const REVENUE_TYPES = ["rpa", "rps", "rpc"] as const;
/** How a partner is paid, of an offer. Events have the first two. */
export const PAYOUT_TYPES = ["cpa", "cps", "cpc"] as const;

/** What an amount is paid for, in the order of the types. */
export const PAID_FOR = [
  "Amount for each conversion",
  "Percent of the sale",
  "Amount for each click",
];

export const NO_MONEY = "0.0000";

/** Words of each value, by their places. */
export function inWords(
  values: readonly string[],
  texts: readonly string[],
): Record<string, string> {
  return Object.fromEntries(values.map((value, place) => [value, texts[place] ?? ""]));
}

/** When somebody is paid. */
export const PAID_AT = {
  net7: "Net 7 days",
  net15: "Net 15 days",
  net30: "Net 30 days",
  net45: "Net 45 days",
  net60: "Net 60 days",
  weekly: "Every week",
  biweekly: "Every two weeks",
  monthly: "Every month",
  on_request: "On request",
} satisfies Record<(typeof PAYMENT_TERMS)[number], string>;

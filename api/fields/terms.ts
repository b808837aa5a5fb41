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

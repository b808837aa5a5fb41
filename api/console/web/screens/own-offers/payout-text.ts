import { formatMoney } from "../../format/money.ts";

type Payout = {
  readonly payout_type?: "cpa" | "cps" | "cpc";
  readonly payout?: string;
};

/** What a partner is paid, and for what, such as "5% of the sale". */
export function payoutText({ payout_type: type, payout }: Payout, currency: string): string {
  if (type === undefined || payout === undefined) return "";
  if (type === "cps") return `${withoutZeros(payout)}% of the sale`;
  return `${formatMoney(payout, currency)} ${type === "cpc" ? "per click" : "per action"}`;
}

/** 5.0000 as "5" and 10.0000 as "10". */
function withoutZeros(decimal: string): string {
  return decimal.includes(".") ? decimal.replace(/\.?0+$/, "") : decimal;
}

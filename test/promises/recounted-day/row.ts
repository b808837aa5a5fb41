import type { Entry } from "./ledger.ts";
import { share, units } from "./money.ts";
import type { EventTerms, Status } from "./shop.ts";

/** One conversion as it must be. */
export type Row = {
  /** Empty while no answer named it. */
  id: string;
  readonly shop: number;
  readonly entry: Entry;
  readonly click: string;
  readonly partner: number;
  readonly event: EventTerms;
  readonly txid: string;
  readonly method: string;
  readonly currency: string;
  status: Status;
  reason: string;
  isDuplicate: boolean;
  isHeld: boolean;
  isAlerted: boolean;
  sale: bigint;
  payout: bigint;
  revenue: bigint;
  isPayoutGiven: boolean;
  isRevenueGiven: boolean;
  /** As its own report made it, whatever changed it later: a repeat of that report has the same money. */
  reported: { readonly sale: bigint; readonly payout: bigint; readonly revenue: bigint };
};

export type Given = {
  readonly sale: bigint | undefined;
  readonly payout: bigint | undefined;
  readonly revenue: bigint | undefined;
};
export function setMoney(row: Row, terms: EventTerms, given: Given): void {
  row.sale = given.sale ?? 0n;
  if (given.payout !== undefined) {
    row.payout = given.payout;
    row.isPayoutGiven = true;
  } else if (!row.isPayoutGiven) {
    row.payout = bySale(terms.payout_type, terms.payout, row.sale);
  }
  if (given.revenue !== undefined) {
    row.revenue = given.revenue;
    row.isRevenueGiven = true;
  } else if (!row.isRevenueGiven) {
    row.revenue = bySale(terms.revenue_type, terms.revenue, row.sale);
  }
}

function bySale(type: string, rate: string, sale: bigint): bigint {
  if (type === "cpc" || type === "rpc") return 0n;
  return type === "cps" || type === "rps" ? share(sale, units(rate)) : units(rate);
}

export function isMoneyOther(a: Row, b: Row): boolean {
  return a.sale !== b.sale || a.payout !== b.payout || a.revenue !== b.revenue;
}

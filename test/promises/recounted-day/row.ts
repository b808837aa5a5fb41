import type { Ask, Entry } from "./ledger.ts";
import { exchanged, share, units } from "./money.ts";
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
  /** What the report that made it said in all, and the one that last changed it (G198); empty where none did. */
  readonly madeBy: string;
  changedBy: string;
  /** The status that the last of them named. */
  askedStatus: Status | undefined;
  /** Was once approved or pending, and so has its place in the caps. */
  isCounted: boolean;
};

export type Given = {
  readonly sale: bigint | undefined;
  readonly payout: bigint | undefined;
  readonly revenue: bigint | undefined;
};

/** What a report says of money, in the currency `to` of the offer. */
export function givenBy(
  { params, by }: Pick<Extract<Ask, { kind: "report" }>, "by" | "params">,
  to: string,
): Given {
  const amount = (name: string): bigint | undefined => {
    const text = params[name];
    if (text === undefined) return undefined;
    const currency = params["currency"] ?? to;
    return currency === to ? units(text) : exchanged(units(text), currency, to);
  };
  return {
    sale: amount("amount"),
    payout: by === "workspace" ? amount("payout") : undefined,
    revenue: amount("revenue"),
  };
}

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

/** What a later report makes of a conversion before the caps are asked; undefined when nothing changes (G108, G109, G198). */
export function changed(
  row: Row,
  asked: {
    readonly terms: EventTerms;
    readonly given: Given;
    readonly status: Status | undefined;
    /** By its id. */
    readonly isNamed: boolean;
  },
): Row | undefined {
  if (row.isDuplicate) return undefined;
  const after = { ...row };
  setMoney(after, asked.terms, { ...asked.given, sale: asked.given.sale ?? row.sale });
  const staysHeld =
    row.isHeld && !asked.isNamed && [row.askedStatus, asked.status].every((s) => s === "approved");
  after.status = staysHeld ? row.status : (asked.status ?? row.status);
  const isNew = after.status !== row.status;
  const isOther = [after.sale, after.payout, after.revenue].some(
    (amount, at) => amount !== [row.sale, row.payout, row.revenue][at],
  );
  if (!isNew && !isOther) return undefined;
  after.reason = isNew && after.status !== "rejected" ? "postback_update" : "postback_reversal";
  if (isNew) after.isHeld = false;
  return after;
}

/** All that a report says, as one text: two that say the same are equal (G198). */
export function said(params: Readonly<Record<string, string>>): string {
  const amounts = ["amount", "payout", "revenue"];
  const all: Record<string, string> = { event: "default", ...params };
  delete all["test"];
  const texts = Object.entries(all).map(([name, value]) =>
    JSON.stringify([name, amounts.includes(name) ? `${units(value)}` : value]),
  );
  return texts.toSorted((a, b) => a.localeCompare(b)).join(",");
}

export function isRepeatOf({ madeBy, changedBy }: Row, report: string): boolean {
  return report === madeBy || report === changedBy;
}

/** The conversion of its click and event that this very report made or last changed (G198). */
export function repeatedOf(
  rows: readonly Row[],
  params: Readonly<Record<string, string>>,
): Row | undefined {
  const { click_id: click, event = "default" } = params;
  const same = rows.filter(
    (row) => row.click === click && row.event.code === event && isRepeatOf(row, said(params)),
  );
  return same.findLast(({ isDuplicate }) => !isDuplicate) ?? same.at(-1);
}

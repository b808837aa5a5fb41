import type { Action, Entry } from "./ledger.ts";
import { exchanged, share, units } from "./money.ts";
import type { EventTerms, Status } from "./shop.ts";

/** The expected state of one conversion. */
export type Row = {
  /** Empty until an answer contains it. */
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
  /** Amounts from its own report, whatever changed them later: a repeat of that report has the same amounts. */
  reported: { readonly sale: bigint; readonly payout: bigint; readonly revenue: bigint };
  /** The key of the report that created it, and of the report that last changed it (G198); empty if there is none. */
  readonly madeBy: string;
  changedBy: string;
  /** The status in the latest of these reports. */
  requestedStatus: Status | undefined;
  /** Was approved or pending at some time, so it uses capacity of the caps. */
  isCounted: boolean;
};

export type Given = {
  readonly sale: bigint | undefined;
  readonly payout: bigint | undefined;
  readonly revenue: bigint | undefined;
};

/** The amounts in a report, in the offer's currency `to`. */
export function givenBy(
  { params, by }: Pick<Extract<Action, { kind: "report" }>, "by" | "params">,
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

/** The conversion after a later report, before caps are checked; undefined if nothing changes (G108, G109, G198). */
export function changed(
  row: Row,
  update: {
    readonly terms: EventTerms;
    readonly given: Given;
    readonly status: Status | undefined;
    /** The report names the conversion by its id. */
    readonly isNamed: boolean;
  },
): Row | undefined {
  if (row.isDuplicate) return undefined;
  const after = { ...row };
  setMoney(after, update.terms, { ...update.given, sale: update.given.sale ?? row.sale });
  after.status = staysHeld(row, update) ? row.status : (update.status ?? row.status);
  // The end of a hold approves, and the advertiser has not decided (G230).
  const endsHold = row.isHeld && update.status === "pending";
  const isNew = after.status !== row.status || endsHold;
  const isOther = [after.sale, after.payout, after.revenue].some(
    (amount, at) => amount !== [row.sale, row.payout, row.revenue][at],
  );
  if (!isNew && !isOther) return undefined;
  after.reason = isNew && after.status !== "rejected" ? "postback_update" : "postback_reversal";
  if (isNew) after.isHeld = false;
  return after;
}

/** A repeated `approved` does not end a hold, unless the report names the conversion by its id (G198). */
function staysHeld(
  { isHeld, requestedStatus }: Row,
  { isNamed, status }: { readonly isNamed: boolean; readonly status: Status | undefined },
): boolean {
  return isHeld && !isNamed && [requestedStatus, status].every((one) => one === "approved");
}

/** All parameters of a report as one text, so that reports with the same content have equal keys (G198). */
export function reportKey(params: Readonly<Record<string, string>>): string {
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

/** The conversion of the report's click and event that this same report created or last changed (G198). */
export function repeatedOf(
  rows: readonly Row[],
  params: Readonly<Record<string, string>>,
): Row | undefined {
  const { click_id: click, event = "default" } = params;
  const same = rows.filter(
    (row) => row.click === click && row.event.code === event && isRepeatOf(row, reportKey(params)),
  );
  return same.findLast(({ isDuplicate }) => !isDuplicate) ?? same.at(-1);
}

export type Status = "approved" | "pending" | "rejected";
/** The fields of a report or update; missing fields are not given. Amounts are decimals with at most four places. */
export type ReportFields = {
  readonly status?: Status;
  readonly amount?: string;
  readonly payout?: string;
};

const PAYOUT_PERCENT = 100_000n;
const REVENUE_PERCENT = 333_333n;

/** A plain decimal in ten-thousandths. */
function units(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(`${whole}${fraction.padEnd(4, "0")}`);
}

function decimal(amount: bigint): string {
  const digits = amount.toString().padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

function share(sale: bigint, percent: bigint): bigint {
  return (2n * sale * percent + 1_000_000n) / 2_000_000n;
}

/** The expected state of one conversion. */
export class ModelRow {
  id = "";
  status: Status = "approved";
  reason = "";
  isDuplicate = false;
  isHeld = false;
  sale = 0n;
  payout = 0n;
  revenue = 0n;
  isPayoutGiven = false;
  /** The key of the report that created it; `change` is the key of the report that last changed it (G198). */
  readonly report: string;
  change = "";
  /** The status in the latest of these reports. */
  requestedStatus: Status | undefined;
  readonly click: number;
  readonly txid: string;

  constructor(click: number, txid: string, report: string) {
    this.click = click;
    this.txid = txid;
    this.report = report;
  }

  isRepeatedBy(report: string): boolean {
    return [this.report, this.change].includes(report);
  }

  names(id: string): void {
    this.id = id;
  }

  /** Uses the given sale and payout, and computes the rest by the terms (G108). */
  setMoney({ amount, payout }: ReportFields): void {
    if (amount !== undefined) this.sale = units(amount);
    if (payout !== undefined) {
      this.payout = units(payout);
      this.isPayoutGiven = true;
    } else if (!this.isPayoutGiven) {
      this.payout = share(this.sale, PAYOUT_PERCENT);
    }
    this.revenue = share(this.sale, REVENUE_PERCENT);
  }

  shown(): Record<string, unknown> {
    const { id, status, reason, isDuplicate, isHeld } = this;
    const money = { sale: this.sale, payout: this.payout, revenue: this.revenue };
    return {
      id,
      status,
      reason,
      isDuplicate,
      ...Object.fromEntries(Object.entries(money).map(([name, value]) => [name, decimal(value)])),
      isHeld,
    };
  }
}

export type Model = ModelConversions;

/** The result of a report, and the index of its row. */
export type Reported = { readonly result: string; readonly isNew: boolean; readonly place: number };

/** All conversions of one offer that pays percentages of the sale, by the rules of the contract (G96, G106, G108, G109). */
export class ModelConversions {
  readonly rows: ModelRow[] = [];
  readonly #isHolding: boolean;

  constructor(isHolding: boolean) {
    this.#isHolding = isHolding;
  }

  report(click: number, txid: string, fields: ReportFields): Reported {
    const key = JSON.stringify([click, txid, fields.status, fields.amount, fields.payout]);
    const repeated = this.#findRepeated(click, key);
    if (repeated !== undefined && fields.status !== undefined)
      return { result: "updated", isNew: false, place: repeated };
    const found = this.#find(click, txid);
    if (found === undefined)
      return { result: this.#add({ click, txid, key }, fields), ...this.#newest() };
    if (this.#mayUpdate(found, txid, fields)) {
      const isChanged = this.#change(found, fields, { key, byId: false });
      if (isChanged || fields.status !== undefined)
        return { result: "updated", isNew: false, place: found };
    }
    const duplicate = new ModelRow(click, txid, key);
    duplicate.requestedStatus = fields.status;
    duplicate.status = "rejected";
    duplicate.reason = "duplicate";
    duplicate.isDuplicate = true;
    duplicate.setMoney(fields);
    this.rows.push(duplicate);
    return { result: "duplicate", ...this.#newest() };
  }

  #findRepeated(click: number, key: string): number | undefined {
    const isSame = (row: ModelRow): boolean => row.click === click && row.isRepeatedBy(key);
    const counted = this.rows.findLastIndex((row) => !row.isDuplicate && isSame(row));
    const at = counted >= 0 ? counted : this.rows.findLastIndex(isSame);
    return at >= 0 ? at : undefined;
  }

  /** The row with the order number, else the row of the click. */
  #find(click: number, txid: string): number | undefined {
    const byTxid = this.rows.findIndex(
      (row) => !row.isDuplicate && txid !== "" && row.txid === txid,
    );
    if (byTxid >= 0) return byTxid;
    const byClick = this.rows.findIndex((row) => !row.isDuplicate && row.click === click);
    return byClick >= 0 ? byClick : undefined;
  }

  /** A report of the same order may change status or money. A report without an order number may change only the status. */
  #mayUpdate(found: number, txid: string, { status, amount, payout }: ReportFields): boolean {
    const isSameOrder = txid !== "" && this.rows[found]?.txid === txid;
    if (isSameOrder) return [status, amount, payout].some((given) => given !== undefined);
    return txid === "" && status !== undefined;
  }

  /** Updates a conversion by its id. Returns whether anything changed. */
  update(place: number, fields: ReportFields): boolean {
    const key = JSON.stringify([fields.status, fields.amount, fields.payout]);
    return this.#change(place, fields, { key, byId: true });
  }

  #change(
    place: number,
    fields: ReportFields,
    { key, byId }: { readonly key: string; readonly byId: boolean },
  ): boolean {
    const row = this.rows[place];
    if (row === undefined || row.isDuplicate || row.isRepeatedBy(key)) return false;
    const before = [row.status, row.sale, row.payout, row.revenue].join();
    const status = statusAfter(row, fields, byId);
    const hadGivenPayout = row.isPayoutGiven;
    // The end of a hold approves, and the advertiser has not decided (G230).
    const endsHold = row.isHeld && fields.status === "pending";
    const isStatusNew = status !== row.status || endsHold;
    row.setMoney(fields);
    row.status = status;
    if (!endsHold && [row.status, row.sale, row.payout, row.revenue].join() === before) {
      // The service writes nothing, so a payout equal to the computed one still counts as computed.
      row.isPayoutGiven = hadGivenPayout;
      return false;
    }
    row.reason = isStatusNew && status !== "rejected" ? "postback_update" : "postback_reversal";
    if (isStatusNew) row.isHeld = false;
    row.change = key;
    row.requestedStatus = fields.status ?? row.requestedStatus;
    return true;
  }

  /** Changes statuses as staff does. Returns what the reply to the command must contain. */
  patch(
    places: readonly number[],
    to: { readonly status: Status; readonly reason: string },
    isBulk: boolean,
  ): Record<string, unknown> {
    const rows = places.flatMap((place) => this.rows[place] ?? []);
    const allowed = rows.filter((row) => !row.isDuplicate || (!isBulk && to.status === "rejected"));
    if (!isBulk && allowed.length === 0) return { kind: "refused", code: "conflict" };
    for (const row of allowed) {
      if (row.status === to.status && row.reason === to.reason) continue;
      row.status = to.status;
      row.reason = to.reason;
      row.isHeld = false;
    }
    return {
      kind: "changed",
      updated: allowed.map(({ id }) => ({ id, status: to.status, status_reason: to.reason })),
      notFound: [],
      skippedDuplicates: rows.length - allowed.length,
    };
  }

  endHolds(): void {
    for (const row of this.rows.filter(({ isHeld, status }) => isHeld && status === "pending")) {
      row.status = "approved";
      row.reason = "";
      row.isHeld = false;
    }
  }

  #add(
    { click, txid, key }: { readonly click: number; readonly txid: string; readonly key: string },
    fields: ReportFields,
  ): string {
    const row = new ModelRow(click, txid, key);
    row.requestedStatus = fields.status;
    row.setMoney(fields);
    if (fields.status === "rejected") {
      row.status = "rejected";
      row.reason = "postback";
    } else if (this.#isHolding && fields.status !== "pending") {
      row.status = "pending";
      row.reason = "hold";
      row.isHeld = true;
    } else {
      row.status = fields.status ?? "approved";
    }
    this.rows.push(row);
    return row.status;
  }

  #newest(): { readonly isNew: true; readonly place: number } {
    return { isNew: true, place: this.rows.length - 1 };
  }
}

/** A repeated `approved` does not end a hold, unless the report names the conversion by its id (G198). */
function statusAfter(row: ModelRow, fields: ReportFields, byId: boolean): Status {
  const isRepeated = fields.status === "approved" && row.requestedStatus === "approved";
  return row.isHeld && isRepeated && !byId ? row.status : (fields.status ?? row.status);
}

export type Status = "approved" | "pending" | "rejected";
/** What a report or update gives; absent is not given. Amounts are decimals with at most four places. */
export type Asked = {
  readonly status?: Status;
  readonly amount?: string;
  readonly payout?: string;
};

const PAYOUT_PERCENT = 100_000n;
const REVENUE_PERCENT = 333_333n;

/** Ten-thousandths of a plain decimal. */
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

/** One conversion as the contract says it must be. */
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
  /** What the report that made it said in all, and the one that last changed it (G198). */
  readonly report: string;
  change = "";
  /** The status that the last of them named. */
  askedStatus: Status | undefined;
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

  /** Sale and payout as given, the rest by the terms (G108). */
  setMoney({ amount, payout }: Asked): void {
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

/** What a report makes, and where its row is. */
export type Reported = { readonly result: string; readonly isNew: boolean; readonly place: number };

/** All conversions of one offer with percentages of the sale, as sections 3.1 and 7.6 and G96, G106, G108, G109 have them. */
export class ModelConversions {
  readonly rows: ModelRow[] = [];
  readonly #isHolding: boolean;

  constructor(isHolding: boolean) {
    this.#isHolding = isHolding;
  }

  report(click: number, txid: string, asked: Asked): Reported {
    const said = JSON.stringify([click, txid, asked.status, asked.amount, asked.payout]);
    const repeated = this.#findRepeated(click, said);
    if (repeated !== undefined && asked.status !== undefined)
      return { result: "updated", isNew: false, place: repeated };
    const found = this.#find(click, txid);
    if (found === undefined)
      return { result: this.#add({ click, txid, said }, asked), ...this.#newest() };
    if (this.#mayUpdate(found, txid, asked)) {
      const isChanged = this.#change(found, asked, { said, byId: false });
      if (isChanged || asked.status !== undefined)
        return { result: "updated", isNew: false, place: found };
    }
    const duplicate = new ModelRow(click, txid, said);
    duplicate.askedStatus = asked.status;
    duplicate.status = "rejected";
    duplicate.reason = "duplicate";
    duplicate.isDuplicate = true;
    duplicate.setMoney(asked);
    this.rows.push(duplicate);
    return { result: "duplicate", ...this.#newest() };
  }

  #findRepeated(click: number, said: string): number | undefined {
    const isSame = (row: ModelRow): boolean => row.click === click && row.isRepeatedBy(said);
    const counted = this.rows.findLastIndex((row) => !row.isDuplicate && isSame(row));
    const at = counted >= 0 ? counted : this.rows.findLastIndex(isSame);
    return at >= 0 ? at : undefined;
  }

  /** The row that the order, else the click stands for. */
  #find(click: number, txid: string): number | undefined {
    const byTxid = this.rows.findIndex(
      (row) => !row.isDuplicate && txid !== "" && row.txid === txid,
    );
    if (byTxid >= 0) return byTxid;
    const byClick = this.rows.findIndex((row) => !row.isDuplicate && row.click === click);
    return byClick >= 0 ? byClick : undefined;
  }

  /** By its order a row is changed by a status or by money, by its click only by a status, and by no other order. */
  #mayUpdate(found: number, txid: string, { status, amount, payout }: Asked): boolean {
    const isSameOrder = txid !== "" && this.rows[found]?.txid === txid;
    if (isSameOrder) return [status, amount, payout].some((given) => given !== undefined);
    return txid === "" && status !== undefined;
  }

  /** By its id. Whether anything changed. */
  update(place: number, asked: Asked): boolean {
    const said = JSON.stringify([asked.status, asked.amount, asked.payout]);
    return this.#change(place, asked, { said, byId: true });
  }

  #change(
    place: number,
    asked: Asked,
    { said, byId }: { readonly said: string; readonly byId: boolean },
  ): boolean {
    const row = this.rows[place];
    if (row === undefined || row.isDuplicate || row.isRepeatedBy(said)) return false;
    const before = [row.status, row.sale, row.payout, row.revenue].join();
    const status = statusAfter(row, asked, byId);
    const hadGivenPayout = row.isPayoutGiven;
    const isStatusNew = status !== row.status;
    row.setMoney(asked);
    row.status = status;
    if ([row.status, row.sale, row.payout, row.revenue].join() === before) {
      // Nothing is written, so that a payout equal to the computed one stays a computed one.
      row.isPayoutGiven = hadGivenPayout;
      return false;
    }
    row.reason = isStatusNew && status !== "rejected" ? "postback_update" : "postback_reversal";
    if (isStatusNew) row.isHeld = false;
    row.change = said;
    row.askedStatus = asked.status ?? row.askedStatus;
    return true;
  }

  /** What the reply to the command must contain. */
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
    { click, txid, said }: { readonly click: number; readonly txid: string; readonly said: string },
    asked: Asked,
  ): string {
    const row = new ModelRow(click, txid, said);
    row.askedStatus = asked.status;
    row.setMoney(asked);
    if (asked.status === "rejected") {
      row.status = "rejected";
      row.reason = "postback";
    } else if (this.#isHolding) {
      row.status = "pending";
      row.reason = "hold";
      row.isHeld = true;
    } else {
      row.status = asked.status ?? "approved";
    }
    this.rows.push(row);
    return row.status;
  }

  #newest(): { readonly isNew: true; readonly place: number } {
    return { isNew: true, place: this.rows.length - 1 };
  }
}

/** `approved` said once more ends no hold, unless the conversion is named by its id (G198). */
function statusAfter(row: ModelRow, asked: Asked, byId: boolean): Status {
  const isSaidAgain = asked.status === "approved" && row.askedStatus === "approved";
  return row.isHeld && isSaidAgain && !byId ? row.status : (asked.status ?? row.status);
}

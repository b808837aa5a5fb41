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
  readonly click: number;
  readonly txid: string;

  constructor(click: number, txid: string) {
    this.click = click;
    this.txid = txid;
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
    const found = this.#find(click, txid);
    if (found === undefined) return { result: this.#add(click, txid, asked), ...this.#newest() };
    if (this.#mayUpdate(found, txid, asked)) {
      const isChanged = this.update(found, asked);
      if (isChanged || asked.status !== undefined)
        return { result: "updated", isNew: false, place: found };
    }
    const duplicate = new ModelRow(click, txid);
    duplicate.status = "rejected";
    duplicate.reason = "duplicate";
    duplicate.isDuplicate = true;
    duplicate.setMoney(asked);
    this.rows.push(duplicate);
    return { result: "duplicate", ...this.#newest() };
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

  /** Whether anything changed. */
  update(place: number, asked: Asked): boolean {
    const row = this.rows[place];
    if (row === undefined || row.isDuplicate) return false;
    const before = [row.status, row.sale, row.payout, row.revenue].join();
    const status = asked.status ?? row.status;
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

  #add(click: number, txid: string, asked: Asked): string {
    const row = new ModelRow(click, txid);
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

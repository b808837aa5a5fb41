import {
  idOf,
  isPixel,
  judged,
  malformed,
  moneyOf,
  namesStatus,
  shown,
  statusOf,
} from "./answers.ts";
import type { Action, Click, Entry } from "./ledger.ts";
import { units } from "./money.ts";
import {
  changed,
  type Given,
  givenBy,
  isRepeatOf,
  type Row,
  repeatedOf,
  reportKey,
  setMoney,
} from "./row.ts";
import { type EventTerms, type Partner, type Shop, type Status, termsOf } from "./shop.ts";

export type ShopContext = {
  readonly partners: readonly Partner[];
  readonly clicks: ReadonlyMap<string, Click>;
};

type Report = Extract<Action, { kind: "report" }>;
type ReportFacts = {
  readonly status: Status | undefined;
  readonly isListed: boolean;
  readonly params: Readonly<Record<string, string>>;
  readonly isTest: boolean;
};
type State = { rows: Row[]; taken: number; paid: bigint; addresses: string[] };

/** All conversions of one offer, computed entry by entry in sending order, by the contract's rules for reports, caps and statuses. */
export class ShopRecount {
  readonly #shop: Shop;
  readonly #at: number;
  readonly #context: ShopContext;
  #state: State = { rows: [], taken: 0, paid: 0n, addresses: [] };

  constructor(shop: Shop, at: number, context: ShopContext) {
    this.#shop = shop;
    this.#at = at;
    this.#context = context;
  }

  get rows(): readonly Row[] {
    return this.#state.rows;
  }

  /** Undefined if the answer is right, else the expected one. The service may have processed each attempt without an answer, or not. */
  take(entry: Entry): string | undefined {
    const saved = this.#state;
    let first = "";
    for (let times = 1; times <= entry.lost + 1; times += 1) {
      this.#state = {
        ...saved,
        rows: saved.rows.map((row) => ({ ...row })),
        addresses: [...saved.addresses],
      };
      for (let lost = 1; lost < times; lost += 1) this.#apply(entry);
      const before = this.#state.rows.length;
      const answer = this.#apply(entry);
      const id = idOf(entry.answer);
      const made = this.#state.rows[before];
      if (made !== undefined) made.id = id;
      const wanted = JSON.stringify(answer);
      if (wanted === JSON.stringify(judged(entry))) return undefined;
      if (times === 1) first = wanted;
    }
    this.#state = saved;
    return `entry ${entry.number} (${this.#shop.name}): ${JSON.stringify(entry.action)} was answered ${JSON.stringify(judged(entry))}, the ledger has ${first}`;
  }

  /** Approves the held conversions. */
  endHolds(): void {
    for (const row of this.#state.rows.filter(({ isHeld }) => isHeld)) {
      row.status = "approved";
      row.reason = "";
      row.isHeld = false;
    }
  }

  #apply(entry: Entry): unknown {
    switch (entry.action.kind) {
      case "report":
        return this.#report(entry, entry.action);
      case "create":
        return this.#create(entry, entry.action.body);
      case "patch":
        return this.#patch(entry.action);
    }
  }

  #report(entry: Entry, action: Report): unknown {
    const { params, by } = action;
    if (params["currency"] === "ZZZ") return malformed(by);
    if (params["conversion_id"] === undefined) return this.#order(entry, action);
    const row = this.#state.rows.find(({ id }) => id === params["conversion_id"]);
    return row === undefined ? { http: 200, ok: false } : this.#update(row, action);
  }

  #order(entry: Entry, action: Report): unknown {
    const { params, by } = action;
    const { event: code = "default", txid = "", click_id: click = "" } = params;
    const event = this.#event(code);
    if (event === undefined) return malformed(by);
    const status = statusOf(params["status"]);
    const isTest = params["test"] === "1";
    const repeated = namesStatus(action) ? repeatedOf(this.#state.rows, action.params) : undefined;
    if (repeated !== undefined) return shown(repeated, { isUpdate: true, isTest });
    const match = this.#match({ txid, click, event }, namesStatus(action));
    const given = givenBy(action, this.#shop.currency);
    if (match !== undefined && this.#isUpdate(match, action, given))
      return this.#update(match, action);
    const row = this.#draft(entry, { click, txid, event, given, by, params });
    if (match !== undefined) {
      Object.assign(row, { status: "rejected", reason: "duplicate", isDuplicate: true });
    } else {
      this.#judge(row, { status, isListed: action.isListed || isPixel(by), params, isTest });
    }
    if (!isTest) this.#state.rows.push(row);
    return shown(row, { isTest });
  }

  /** Whether the report updates the match, or is a repeat of it (G106). Pixels update nothing (G159). */
  #isUpdate(match: Row, { params, by }: Report, given: Given): boolean {
    if (isPixel(by)) return false;
    const txid = params["txid"] ?? "";
    const byOrder = txid !== "" && match.txid === txid;
    if (params["status"] === undefined)
      return byOrder && !isRepeatOf(match, reportKey(params)) && this.#wouldChange(match, given);
    return byOrder || txid === "";
  }

  /** `hasStatus`: a status without an order number applies to the latest conversion of an event that may occur several times (G107). */
  #match(
    order: { readonly txid: string; readonly click: string; readonly event: EventTerms },
    hasStatus: boolean,
  ): Row | undefined {
    const own = this.#state.rows.filter((row) => !row.isDuplicate);
    const byOrder = own.find(({ txid }) => order.txid !== "" && txid === order.txid);
    if (byOrder !== undefined || order.click === "") return byOrder;
    const ofClick = own.filter(
      (row) => row.click === order.click && row.event.code === order.event.code,
    );
    if (this.#isOnce(order.event)) return ofClick[0];
    return hasStatus && order.txid === "" ? ofClick.at(-1) : undefined;
  }

  #isOnce(event: EventTerms): boolean {
    return this.#shop.isOncePerClick && event.allow_multiple !== true;
  }

  #update(row: Row, action: Report): unknown {
    const { params } = action;
    const isTest = params["test"] === "1";
    const how = { isUpdate: true, isTest };
    if (isRepeatOf(row, reportKey(params))) return shown(row, how);
    if (this.#shop.advertiser === "listed" && !action.isListed) return { http: 403, ok: false };
    const after = changed(row, {
      terms: termsOf(this.#shop, row.event, row.partner),
      given: givenBy(action, row.currency),
      status: statusOf(params["status"]),
      isNamed: params["conversion_id"] !== undefined,
    });
    if (after === undefined) return shown(row, how);
    if (this.#takeCapacity(row, after, isTest)) {
      after.changedBy = reportKey(params);
      after.requestedStatus = statusOf(params["status"]) ?? row.requestedStatus;
    }
    if (!isTest) Object.assign(row, after);
    return shown(after, how);
  }

  /** A rejected conversion that never counted needs room under the current caps (G198); without room it stays rejected. */
  #takeCapacity(row: Row, after: Row, isTest: boolean): boolean {
    if (after.status === "rejected" || row.status !== "rejected" || row.isCounted) return true;
    const isFull = this.#isFull(after.payout);
    if (isFull && this.#shop.caps.alertOnly !== true) {
      Object.assign(after, { status: "rejected", reason: "cap_exceeded" });
      return false;
    }
    after.isAlerted ||= isFull;
    after.isCounted = true;
    if (isTest) return true;
    this.#state.taken += 1;
    this.#state.paid += after.payout;
    return true;
  }

  #wouldChange(row: Row, given: Given): boolean {
    const terms = termsOf(this.#shop, row.event, row.partner);
    return changed(row, { terms, given, status: undefined, isNamed: false }) !== undefined;
  }

  #draft(
    entry: Entry,
    order: {
      readonly click: string;
      readonly txid: string;
      readonly event: EventTerms;
      readonly given: Given;
      readonly by: string;
      readonly params?: Readonly<Record<string, string>>;
    },
  ): Row {
    const { click, txid, event, given, by, params } = order;
    const partner = this.#partnerOf(entry, click);
    const methods: Record<string, string> = { pixel: "pixel", script: "js", api: "api" };
    const row: Row = {
      id: "",
      shop: this.#at,
      entry,
      click,
      partner,
      event,
      txid,
      method: methods[by] ?? "s2s",
      currency: this.#shop.currency,
      status: "approved",
      reason: "",
      isDuplicate: false,
      isHeld: false,
      isAlerted: false,
      sale: 0n,
      payout: 0n,
      revenue: 0n,
      isPayoutGiven: false,
      isRevenueGiven: false,
      reported: { sale: 0n, payout: 0n, revenue: 0n },
      madeBy: params === undefined ? "" : reportKey(params),
      changedBy: "",
      isCounted: false,
      requestedStatus: statusOf(params?.["status"]),
    };
    setMoney(row, termsOf(this.#shop, event, partner), given);
    const { sale, payout, revenue } = row;
    row.reported = { sale, payout, revenue };
    return row;
  }

  /** The click's partner, else the named one. A coupon belongs to the first partner. */
  #partnerOf({ action }: Entry, click: string): number {
    const clicked = this.#context.clicks.get(click);
    if (clicked !== undefined) return clicked.partner;
    const named =
      action.kind === "create"
        ? String(action.body["affiliate_id"])
        : action.kind === "report"
          ? action.params["aff_id"]
          : undefined;
    const at = this.#context.partners.findIndex(
      ({ id, code }) => named === code || named === `${id}`,
    );
    return Math.max(at, 0);
  }

  #event(code: string): EventTerms | undefined {
    return this.#shop.events.find((event) => event.code === code);
  }

  /** Applies the checks in the order of G96; the first match decides. */
  #judge(row: Row, facts: ReportFacts): void {
    const address = this.#addressOf(row, facts);
    const isFull = this.#isFull(row.payout);
    const early = this.#refusal(row, facts, address);
    const isCapped = isFull && this.#shop.caps.alertOnly !== true;
    const reason = early ?? (isCapped ? "cap_exceeded" : undefined);
    if (reason === undefined) row.isAlerted = isFull;
    if (reason !== undefined || facts.status === "rejected") {
      Object.assign(row, { status: "rejected", reason: reason ?? "postback" });
      return;
    }
    this.#wait(row, facts.status);
    this.#reasonOfRepeat(row);
    row.isCounted = true;
    if (facts.isTest) return;
    this.#state.taken += 1;
    this.#state.paid += row.payout;
    if (address !== "") this.#state.addresses.push(address);
  }

  /** The address in the report, else the click's (G102); empty if the offer counts none. */
  #addressOf(row: Row, { params }: ReportFacts): string {
    if (!this.#shop.countsAddresses) return "";
    return params["ip"] ?? this.#context.clicks.get(row.click)?.ip ?? "";
  }

  #refusal(row: Row, facts: ReportFacts, address: string): string | undefined {
    const shop = this.#shop;
    const click = this.#context.clicks.get(row.click);
    if (shop.isTooFast && click !== undefined) return "too_fast";
    if (shop.advertiser === "listed" && !facts.isListed) return "ip_not_allowed";
    if (shop.countsAddresses && click?.isBot === true) return "fraud:bot";
    if (this.#state.addresses.includes(address)) return "fraud:duplicate_conv_ip";
    const { rejectsSalesFrom: limit } = shop;
    return limit !== undefined && row.sale >= units(limit) ? "rule:too dear" : undefined;
  }

  /** Whether a conversion with this payout would exceed a cap. */
  #isFull(payout: bigint): boolean {
    const { conversions, payout: limit } = this.#shop.caps;
    const { taken, paid } = this.#state;
    if (conversions !== undefined && taken >= conversions) return true;
    return limit !== undefined && (paid >= units(limit) || paid + payout > units(limit));
  }

  #wait(row: Row, status: Status | undefined): void {
    const reason =
      this.#shop.holdsEvent === row.event.code
        ? "rule:review"
        : this.#context.partners[row.partner]?.isThrottled === true
          ? "throttled"
          : this.#shop.isHolding && (status ?? this.#shop.defaultStatus) === "approved"
            ? "hold"
            : undefined;
    if (reason === undefined) {
      row.status = status ?? this.#shop.defaultStatus;
      return;
    }
    Object.assign(row, { status: "pending", reason, isHeld: reason === "hold" });
  }

  #reasonOfRepeat(row: Row): void {
    const isAnother =
      row.click !== "" &&
      !this.#isOnce(row.event) &&
      this.#state.rows.some(
        (one) => !one.isDuplicate && one.click === row.click && one.event.code === row.event.code,
      );
    if (row.reason === "" && isAnother) row.reason = "multiple";
  }

  /** A status given by staff is final; without one the offer's rules decide (G90). */
  #create(entry: Entry, body: Extract<Action, { kind: "create" }>["body"]): unknown {
    const text = (name: string): string | undefined =>
      body[name] === undefined ? undefined : String(body[name]);
    const event = this.#event(text("event") ?? "default");
    if (event === undefined) return { http: 400 };
    const txid = text("adv_txid") ?? "";
    const click = text("click_id") ?? "";
    const match = this.#match({ txid, click, event }, false);
    if (match !== undefined && txid !== "" && match.txid === txid) return { http: 409 };
    const params = Object.fromEntries(
      Object.entries({ ...body, amount: body["sale_amount"] })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, String(value)]),
    );
    const given = givenBy({ by: "workspace", params }, this.#shop.currency);
    const row = this.#draft(entry, { click, txid, event, given, by: "api" });
    const status = statusOf(text("status"));
    if (match !== undefined) {
      Object.assign(row, { status: "rejected", reason: "duplicate", isDuplicate: true });
    } else if (status === undefined) {
      this.#judge(row, { status, isListed: true, params: {}, isTest: false });
    } else {
      row.status = status;
      row.isCounted = status !== "rejected";
      this.#reasonOfRepeat(row);
    }
    this.#state.rows.push(row);
    return { http: 201, ...moneyOf(row) };
  }

  #patch({ ids, isBulk, status, reason }: Extract<Action, { kind: "patch" }>): unknown {
    const rows = ids.map((id) => this.#state.rows.find((row) => row.id === id));
    const known = rows.flatMap((row) => row ?? []);
    if (!isBulk && known.length === 0) return { http: 404 };
    const allowed = known.filter((row) => !row.isDuplicate || (!isBulk && status === "rejected"));
    if (!isBulk && allowed.length === 0) return { http: 409 };
    const to = {
      status: statusOf(status) ?? "rejected",
      reason: reason === "" ? "manual" : reason,
    };
    for (const row of allowed) {
      if (row.status === to.status && row.reason === to.reason) continue;
      Object.assign(row, { ...to, isHeld: false });
    }
    if (!isBulk) return { http: 200, ...moneyOf(allowed[0]) };
    return {
      http: 200,
      updated: allowed.map(({ id }) => ({ id, status: to.status, status_reason: to.reason })),
      not_found: ids.filter((_, at) => rows[at] === undefined),
      skipped_duplicates: known.length - allowed.length,
    };
  }
}

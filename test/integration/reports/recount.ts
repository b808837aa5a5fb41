import { words } from "../../samples/words.ts";
import type {
  Ledger,
  LedgerClick,
  LedgerConversion,
  LedgerCost,
  LedgerImpression,
} from "./ledger.ts";
import { localPiece } from "./local-piece.ts";
import { compareRowKeys, compareSortValues } from "./recount-order.ts";
import { convertedCost, firstShown, rounded, units } from "./recounted-costs.ts";

/*
 * A slow recount of reports from the ledger, without any code of the compiler: days come from the platform's time zones,
 * sums are big integers, rows are objects.
 */

export type Role = "staff" | "partner" | "advertiser";

export type RecountRequest = {
  readonly role: Role;
  readonly ownerId: number;
  readonly workspaceId: number;
  readonly groupBy: readonly string[];
  readonly metrics: readonly string[];
  /** Name of a metric or dimension, with a leading minus for descending. */
  readonly sort: string;
  readonly filters: readonly { dimension: string; operator: string; values: readonly string[] }[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly tz: string;
  readonly currency: string;
  readonly dateBasis: "conversion" | "click";
  readonly limit: number;
  readonly offset: number;
  readonly managers: ReadonlyMap<number, number>;
};

export type Recount = {
  readonly data: Record<string, unknown>[];
  readonly totals: Record<string, unknown>;
  readonly total_rows: number;
  readonly other_currencies: string[];
};

type Fact =
  | { kind: "click"; row: LedgerClick }
  | { kind: "impression"; row: LedgerImpression }
  | { kind: "conversion"; row: LedgerConversion }
  | { kind: "cost"; row: LedgerCost };

type Sums = {
  clicks: bigint;
  unique: bigint;
  bots: bigint;
  impressions: bigint;
  approved: bigint;
  pending: bigint;
  rejected: bigint;
  payout: bigint;
  revenue: bigint;
  sale: bigint;
  cost: bigint;
  others: Set<string>;
  hasForeignMoney: boolean;
};

const ID_DIMENSIONS = new Set(["offer", "affiliate", "advertiser", "smart_link", "manager"]);
const COST_DIMENSIONS = new Set(
  words(`
  date hour week month hour_of_day weekday offer affiliate advertiser traffic_source ext_campaign_id ext_adgroup_id
`),
);
const CONVERSION_ONLY = new Set(["event", "status", "method", "conversion_reason"]);
const NOT_OF_IMPRESSIONS = new Set(["smart_link", "link_type", "currency"]);
const CLICK_ONLY = new Set(
  words(`
  click_status status_reason is_unique is_bot is_datacenter referrer_host language os_version isp
`),
);

export function recount(ledger: Ledger, request: RecountRequest): Recount {
  const facts: Fact[] = [
    ...ledger.clicks.map((row): Fact => ({ kind: "click", row })),
    ...ledger.impressions.map((row): Fact => ({ kind: "impression", row })),
    ...ledger.conversions.map((row): Fact => ({ kind: "conversion", row })),
    ...ledger.costs.map((row): Fact => ({ kind: "cost", row })),
  ];
  const groups = new Map<string, { values: (string | number)[]; sums: Sums }>();
  const total = noSums();
  for (const fact of facts) {
    if (!counts(fact, request)) continue;
    const values = request.groupBy.map((dimension) => valueOf(fact, dimension, request));
    const key = JSON.stringify(values);
    const group = groups.get(key) ?? { values, sums: noSums() };
    groups.set(key, group);
    for (const sums of [group.sums, total]) add(sums, fact, { ...request, rates: ledger.rates });
  }
  if (request.groupBy.length === 0) {
    const totals = shown(total, request);
    return { data: [totals], totals, total_rows: 1, other_currencies: [...total.others].sort() };
  }
  const rows = [...groups.values()].map(({ values, sums }) => ({
    values,
    shown: shown(sums, request),
    order: sortKey(values, sums, request),
  }));
  rows.sort(
    (a, b) =>
      compareSortValues(a.order, b.order, request.sort.startsWith("-")) ||
      compareRowKeys(a.values, b.values),
  );
  return {
    data: rows.slice(request.offset, request.offset + request.limit).map((row) => ({
      ...Object.fromEntries(request.groupBy.map((name, index) => [name, row.values[index]])),
      ...row.shown,
    })),
    totals: shown(total, request),
    total_rows: rows.length,
    other_currencies: [...total.others].sort(),
  };
}

function isOwn({ row }: Fact, { role, workspaceId, ownerId }: RecountRequest): boolean {
  if (row.workspace_id !== workspaceId) return false;
  if (role === "staff") return true;
  return (role === "partner" ? row.affiliate_id : row.advertiser_id) === ownerId;
}

function counts(fact: Fact, request: RecountRequest): boolean {
  const { row, kind } = fact;
  if (!isOwn(fact, request)) return false;
  if (kind === "click" && row.status === "blocked") return false;
  if (kind === "conversion" && row.is_private && request.role === "partner") return false;
  if (kind === "cost" && request.role !== "staff") return false;
  const atMs = instantOf(fact, request);
  if (atMs < request.fromMs || atMs > request.toMs) return false;
  return request.filters.every((filter) => passes(fact, filter, request));
}

function passes(
  fact: Fact,
  { dimension, operator, values }: RecountRequest["filters"][number],
  request: RecountRequest,
): boolean {
  if (fact.kind === "cost" && !carries(fact.kind, dimension)) {
    if (dimension === "event" || dimension === "status") return true;
    return ["not_in", "not_contains", "empty"].includes(operator);
  }
  if (CONVERSION_ONLY.has(dimension) && fact.kind !== "conversion") return true;
  if (CLICK_ONLY.has(dimension) && fact.kind !== "click") return true;
  const value = String(valueOf(fact, dimension, request));
  const empty = ID_DIMENSIONS.has(dimension) ? "0" : "";
  switch (operator) {
    case "in":
      return values.includes(value);
    case "not_in":
      return !values.includes(value);
    case "contains":
      return values.some((part) => value.includes(part));
    case "not_contains":
      return !values.some((part) => value.includes(part));
    case "starts_with":
      return values.some((part) => value.startsWith(part));
    case "empty":
      return value === empty;
    case "not_empty":
      return value !== empty;
    default:
      throw new Error(`no operator ${operator}`);
  }
}

function instantOf({ kind, row }: Fact, { dateBasis, tz }: RecountRequest): number {
  if (kind === "cost") return firstShown(row.wall_time, tz);
  if (kind !== "conversion") return row.ts;
  return dateBasis === "click" ? (row.click_ts ?? row.conv_ts) : row.conv_ts;
}

/** Dimensions whose columns have another name. */
const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["offer", "offer_id"],
  ["affiliate", "affiliate_id"],
  ["event", "event_code"],
  ["advertiser", "advertiser_id"],
  ["smart_link", "smart_link_id"],
  ["click_status", "status"],
  ["conversion_reason", "status_reason"],
  ["creative", "creative_id"],
  ["isp", "as_name"],
]);

function valueOf(fact: Fact, dimension: string, request: RecountRequest): string | number {
  if (!carries(fact.kind, dimension)) return ID_DIMENSIONS.has(dimension) ? 0 : "";
  switch (dimension) {
    case "manager":
      return request.managers.get(fact.row.affiliate_id) ?? 0;
    case "date":
    case "week":
    case "month":
    case "hour":
    case "hour_of_day":
    case "weekday":
      return localPiece(instantOf(fact, request), dimension, request.tz);
    default: {
      const column = COLUMNS.get(dimension) ?? dimension;
      const value: unknown = new Map<string, unknown>(Object.entries(fact.row)).get(column) ?? "";
      return typeof value === "number" ? value : String(value);
    }
  }
}

function carries(kind: Fact["kind"], dimension: string): boolean {
  if (kind === "cost") return COST_DIMENSIONS.has(dimension);
  if (kind === "impression" && NOT_OF_IMPRESSIONS.has(dimension)) return false;
  if (CONVERSION_ONLY.has(dimension)) return kind === "conversion";
  if (dimension === "creative") return kind === "impression";
  return kind === "click" || !CLICK_ONLY.has(dimension);
}

function add(
  sums: Sums,
  { kind, row }: Fact,
  request: RecountRequest & Pick<Ledger, "rates">,
): void {
  const { currency, role } = request;
  if (kind === "cost") {
    const cost = convertedCost(row, request);
    if (cost !== undefined) sums.cost += cost;
    else if (units(row.amount) > 0n) sums.others.add(row.currency);
    return;
  }
  if (kind === "impression") {
    sums.impressions += 1n;
    return;
  }
  if (kind === "click") {
    sums.clicks += 1n;
    if (row.is_unique) sums.unique += 1n;
    if (row.is_bot) sums.bots += 1n;
    addMoney(
      sums,
      { ...row, payout: row.click_payout, revenue: row.click_revenue, sale_amount: "0" },
      { currency, role },
    );
    return;
  }
  if (row.status === "pending") sums.pending += 1n;
  if (row.status === "rejected") sums.rejected += 1n;
  if (row.status !== "approved") return;
  sums.approved += 1n;
  addMoney(sums, row, { currency, role });
}

type Money = { payout: string; revenue: string; sale_amount: string; currency: string };

function addMoney(
  sums: Sums,
  money: Money,
  { currency, role }: { currency: string; role: Role },
): void {
  const [payout, revenue, sale] = [
    units(money.payout),
    units(money.revenue),
    units(money.sale_amount),
  ];
  if (money.currency === currency) {
    sums.payout += payout;
    sums.revenue += revenue;
    sums.sale += sale;
    return;
  }
  const seen = (role === "advertiser" ? 0n : payout) + (role === "partner" ? 0n : revenue) + sale;
  if (seen > 0n && money.currency !== "") {
    sums.others.add(money.currency);
    sums.hasForeignMoney = true;
  }
}

function noSums(): Sums {
  const zero = 0n;
  return {
    clicks: zero,
    unique: zero,
    bots: zero,
    impressions: zero,
    approved: zero,
    pending: zero,
    rejected: zero,
    payout: zero,
    revenue: zero,
    sale: zero,
    cost: zero,
    others: new Set<string>(),
    hasForeignMoney: false,
  };
}

/** The value of a metric as a whole number in its scale, so that values can be compared. */
function metricValue(
  name: string,
  sums: Sums,
  role: Role,
): { text: bigint | null; kind: "count" | "money" | "ratio" } {
  const profit = sums.revenue - sums.payout;
  const count = (text: bigint) => ({ text, kind: "count" as const });
  const money = (text: bigint | null) => ({ text, kind: "money" as const });
  /** Money per unit: null where a part of the money was left out. */
  const each = (of: bigint, by: bigint) => money(sums.hasForeignMoney ? null : rounded(of, by));
  const ratio = (of: bigint, by: bigint) => ({
    text: rounded(of * 1_000_000n, by),
    kind: "ratio" as const,
  });
  switch (name) {
    case "impressions":
      return count(sums.impressions);
    case "clicks":
      return count(sums.clicks);
    case "unique_clicks":
      return count(sums.unique);
    case "bot_clicks":
      return count(sums.bots);
    case "ctr":
      return ratio(sums.clicks, sums.impressions);
    case "conversions":
      return count(sums.approved);
    case "pending_conversions":
      return count(sums.pending);
    case "rejected_conversions":
      return count(sums.rejected);
    case "cvr":
      return ratio(sums.approved, sums.unique);
    case "revenue":
      return money(sums.revenue);
    case "payout":
      return money(sums.payout);
    case "profit":
      return money(profit);
    case "net_profit":
      return money(profit - sums.cost);
    case "margin":
      return ratio(profit, sums.revenue);
    case "epc":
      return each(role === "advertiser" ? sums.revenue : sums.payout, sums.clicks);
    case "rpc":
      return each(sums.revenue, sums.clicks);
    case "cpc":
      return each(sums.payout, sums.clicks);
    case "avg_sale_amount":
      return each(sums.sale, sums.approved);
    case "sale_amount":
      return money(sums.sale);
    case "ad_cost":
      return money(sums.cost);
    case "roas":
      return ratio(sums.revenue, sums.cost);
    default:
      throw new Error(`no metric ${name}`);
  }
}

function shown(sums: Sums, { metrics, role }: RecountRequest): Record<string, unknown> {
  return Object.fromEntries(
    metrics.map((name): [string, unknown] => {
      const { text, kind } = metricValue(name, sums, role);
      if (text === null) return [name, null];
      if (kind === "count") return [name, Number(text)];
      if (kind === "ratio") return [name, Number(text) / 1_000_000];
      const digits = (text < 0n ? -text : text).toString().padStart(5, "0");
      return [name, `${text < 0n ? "-" : ""}${digits.slice(0, -4)}.${digits.slice(-4)}`];
    }),
  );
}

function sortKey(
  values: readonly (string | number)[],
  sums: Sums,
  request: RecountRequest,
): bigint | string | number | null {
  const name = request.sort.replace(/^-/, "");
  const index = request.groupBy.indexOf(name);
  return index >= 0 ? (values[index] ?? "") : metricValue(name, sums, request.role).text;
}

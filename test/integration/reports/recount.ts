import { words } from "../../samples/words.ts";
import { delayOf, orderOf } from "./conversion-delays.ts";
import type { Ledger } from "./ledger.ts";
import { localPiece } from "./local-piece.ts";
import { changeOf, metricValue } from "./recount-metrics.ts";
import { compareRowKeys, compareSortValues } from "./recount-order.ts";
import {
  type Fact,
  type Gathered,
  gather,
  nothing,
  type Role,
  type Sums,
  sumUp,
} from "./recount-sums.ts";
import { clockText, firstShown } from "./recounted-costs.ts";

/*
 * A slow recount of reports from the ledger, without any code of the compiler: days come from the platform's time zones,
 * sums are big integers, rows are objects.
 */

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
  /** The currency of each offer. */
  readonly offerCurrencies: ReadonlyMap<number, string>;
  /** How many days before the other period begins. */
  readonly compare?: number;
  readonly converts?: boolean;
};

export type Recount = {
  readonly data: Record<string, unknown>[];
  readonly totals: Record<string, unknown>;
  readonly total_rows: number;
  readonly other_currencies: string[];
};

const ID_DIMENSIONS = new Set(["offer", "affiliate", "advertiser", "smart_link", "manager"]);
const COST_DIMENSIONS = new Set(
  words(`
  date hour week month hour_of_day weekday offer affiliate advertiser traffic_source ext_campaign_id ext_adgroup_id
`),
);
const CONVERSION_ONLY = new Set([
  "event",
  "status",
  "method",
  "conversion_reason",
  "conversion_delay",
]);
const NOT_OF_IMPRESSIONS = new Set(["smart_link", "link_type", "currency"]);
const CLICK_ONLY = new Set(
  words(`
  click_status status_reason is_unique is_bot is_datacenter referrer_host language os_version isp
`),
);

/** The facts of both periods that belong to one row; `before` stays empty without a comparison. */
type Gatherings = { readonly now: Gathered; readonly before: Gathered };
type Group = { readonly now: Sums; readonly before: Sums };

export function recount(ledger: Ledger, request: RecountRequest): Recount {
  const facts: Fact[] = [
    ...ledger.clicks.map((row): Fact => ({ kind: "click", row })),
    ...ledger.impressions.map((row): Fact => ({ kind: "impression", row })),
    ...ledger.conversions.map((row): Fact => ({ kind: "conversion", row })),
    ...ledger.costs.map((row): Fact => ({ kind: "cost", row })),
  ];
  const groups = new Map<string, { values: (string | number)[]; facts: Gatherings }>();
  const total: Gatherings = { now: nothing(), before: nothing() };
  for (const [name, period] of Object.entries(periodsOf(request))) {
    const isBefore = name === "before";
    for (const fact of facts) {
      if (!counts(fact, period)) continue;
      const values = request.groupBy.map((dimension) => valueOf(fact, dimension, period));
      const key = JSON.stringify(values);
      const group = groups.get(key) ?? { values, facts: { now: nothing(), before: nothing() } };
      groups.set(key, group);
      for (const { now, before } of [group.facts, total]) gather(isBefore ? before : now, fact);
    }
  }
  const rules = { ...request, converts: request.converts === true, rates: ledger.rates };
  const summed = ({ now, before }: Gatherings, currency = request.currency): Group => ({
    now: sumUp(now, { ...rules, currency }),
    before: sumUp(before, { ...rules, currency }),
  });
  const place = request.groupBy.indexOf("currency");
  const all = summed(total);
  const totals = cellsOf(all, request);
  const other_currencies = [...new Set([...all.now.others, ...all.before.others])].sort();
  if (request.groupBy.length === 0)
    return { data: [totals], totals, total_rows: 1, other_currencies };
  const rows = [...groups.values()].map(({ values, facts: gathered }) => {
    // A row that names a currency has its money in it.
    const named = rules.converts ? "" : String(values[place] ?? "");
    const group = summed(gathered, named === "" ? request.currency : named);
    return { values, shown: cellsOf(group, request), order: sortKey(values, group, request) };
  });
  const keyOf = ({ values }: { readonly values: readonly (string | number)[] }) =>
    values.map((value, index) => orderOf(request.groupBy[index] ?? "", value));
  rows.sort(
    (a, b) =>
      compareSortValues(a.order, b.order, request.sort.startsWith("-")) ||
      compareRowKeys(keyOf(a), keyOf(b)),
  );
  return {
    data: rows.slice(request.offset, request.offset + request.limit).map((row) => ({
      ...Object.fromEntries(request.groupBy.map((name, index) => [name, row.values[index]])),
      ...row.shown,
    })),
    totals,
    total_rows: rows.length,
    other_currencies,
  };
}

/** A request whose facts are shown `daysLater` days later than they are. */
type PeriodRequest = RecountRequest & { readonly daysLater: number };

function periodsOf(request: RecountRequest): { now: PeriodRequest; before?: PeriodRequest } {
  const now = { ...request, daysLater: 0 };
  const days = request.compare;
  if (days === undefined) return { now };
  const moved = (atMs: number): number => {
    const clock = clockText(atMs, request.tz);
    const date = new Date(Date.parse(`${clock.slice(0, 10)}T00:00:00Z`) - days * 86_400_000);
    const text = `${date.toISOString().slice(0, 10)}${clock.slice(10)}`;
    return firstShown(text, request.tz) + (atMs % 1_000);
  };
  const toMs = moved(request.toMs + 1) - 1;
  return { now, before: { ...request, fromMs: moved(request.fromMs), toMs, daysLater: days } };
}

function isOwn({ row }: Fact, { role, workspaceId, ownerId }: RecountRequest): boolean {
  if (row.workspace_id !== workspaceId) return false;
  if (role === "staff") return true;
  return (role === "partner" ? row.affiliate_id : row.advertiser_id) === ownerId;
}

function counts(fact: Fact, request: PeriodRequest): boolean {
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
  request: PeriodRequest,
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

function valueOf(fact: Fact, dimension: string, request: PeriodRequest): string | number {
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
      return localPiece(instantOf(fact, request), dimension, request);
    case "conversion_delay":
      return fact.kind === "conversion" ? delayOf(fact.row) : "";
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

/** The cells of a group: its metrics, and with a comparison the metrics of the other period and how far they changed. */
function cellsOf(group: Group, request: RecountRequest): Record<string, unknown> {
  const { metrics, role, compare } = request;
  const values = (sums: Sums): Record<string, unknown> =>
    Object.fromEntries(
      metrics.map((name): [string, unknown] => [name, textOf(metricValue(name, sums, role))]),
    );
  if (compare === undefined) return values(group.now);
  const change = metrics.map((name): [string, unknown] => {
    const [now, before] = [group.now, group.before].map((sums) => metricValue(name, sums, role));
    const stored = changeOf(now?.text ?? null, before?.text ?? null);
    return [name, textOf({ text: stored, kind: "ratio" })];
  });
  return {
    ...values(group.now),
    previous: values(group.before),
    change: Object.fromEntries(change),
  };
}

function textOf({ text, kind }: ReturnType<typeof metricValue>): string | number | null {
  if (text === null) return null;
  if (kind === "count") return Number(text);
  if (kind === "ratio") return Number(text) / 1_000_000;
  const digits = (text < 0n ? -text : text).toString().padStart(5, "0");
  return `${text < 0n ? "-" : ""}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

function sortKey(
  values: readonly (string | number)[],
  group: Group,
  { sort, groupBy, role }: RecountRequest,
): bigint | string | number | null {
  const name = sort.replace(/^-/, "");
  const index = groupBy.indexOf(name);
  if (index >= 0) return orderOf(name, values[index] ?? "");
  const [, word = "", metric = ""] = /^(previous|change)\.(.*)$/.exec(name) ?? ["", "", name];
  const [now, before] = [group.now, group.before].map(
    (sums) => metricValue(metric, sums, role).text,
  );
  if (word === "previous") return before ?? null;
  return (word === "change" ? changeOf(now ?? null, before ?? null) : now) ?? null;
}

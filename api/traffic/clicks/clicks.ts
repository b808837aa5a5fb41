import type { z } from "zod";
import { onEachShard, tableOn } from "../../../schemas/clickhouse/all-shards.ts";
import type { ClickhouseReader } from "../../../schemas/clickhouse/connect.ts";
import { selectFromQuorum } from "../../../schemas/clickhouse/read-quorum.ts";
import { selectRows } from "../../../schemas/clickhouse/select.ts";
import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import type { CountedRows } from "../../reports/counted-rows.ts";
import type { ReportScope } from "../../reports/report-scope.ts";
import { type ClickColumn, StoredClick, selectList } from "./click-row.ts";

/** One condition `column = value`, with the ClickHouse type of the value. */
export type ClickFilter = {
  readonly column: ClickColumn;
  readonly type: "UInt32" | "String" | "Bool" | "ClickId";
  readonly value: number | string | boolean;
};

export type ClickSearch = {
  readonly scope: ReportScope;
  /** Both included, UTC ms. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly filters: readonly ClickFilter[];
  /** Only rows older than this one. */
  readonly after: { readonly atMs: number; readonly clickId: string } | undefined;
  readonly limit: number;
  /** All of its clicks have been stored for long, so one replica of each shard has them. */
  readonly isOld?: boolean;
  /** Only clicks that a report counts, read as reports read them. */
  readonly counted?: CountedRows | undefined;
};

/** What the order of a list needs. */
export type OrderedClick = { readonly click_id: string; readonly ts: number };

/** ClickHouse stops the query after this time; our side stops waiting two seconds later. */
const LIST_TIMEOUT_MS = 10_000;
const CLICK_TIMEOUT_MS = 1_000;

/** Newest first; among clicks of one millisecond the higher id. */
export async function selectClicks<Row extends OrderedClick>(
  clickhouse: ClickhouseReader,
  row: z.ZodObject & z.ZodType<Row>,
  search: ClickSearch,
): Promise<Row[]> {
  const { cluster } = clickhouse;
  const table = tableOn(cluster, "click");
  const params: Record<string, unknown> = {
    from: search.fromMs,
    to: search.toMs,
    limit: search.limit,
  };
  const where = [
    ...scopeConditions(search.scope, params),
    "click.ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')",
    "click.ts <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')",
    ...search.filters.map((filter, index) => filterCondition(filter, `filter${index}`, params)),
  ];
  if (search.after !== undefined) {
    params["after"] = search.after.atMs;
    params["afterId"] = search.after.clickId;
    where.push(
      "click.ts <= fromUnixTimestamp64Milli({after:Int64}, 'UTC')",
      "(click.ts < fromUnixTimestamp64Milli({after:Int64}, 'UTC') or click.click_id < toFixedString(unhex({afterId:String}), 16))",
    );
  }
  const { counted } = search;
  if (counted !== undefined) {
    Object.assign(params, counted.params);
    // In a select of its own, where names mean columns, and which reads no more columns than the conditions need.
    where.push(`(click.ts, click.click_id) in (
      select click.ts, click.click_id from ${table} where ${[...where, ...counted.conditions].join(" and ")}
      order by click.ts desc, click.click_id desc limit {limit:UInt32})`);
  }
  const select = `select ${selectList(row)} from ${table} where ${where.join(" and ")}
    order by click.ts desc, click.click_id desc limit {limit:UInt32}`;
  const statement = { name: "api.clicks", params, timeoutMs: LIST_TIMEOUT_MS };
  if (cluster === undefined)
    return await selectRows(clickhouse, { ...statement, text: select }, row);
  const columns = Object.keys(row.shape);
  if (search.isOld !== true && counted === undefined) {
    const clicks = await selectFromQuorum(clickhouse, { ...statement, select, columns }, row);
    return newestOf(clicks, search.limit);
  }
  const text = `select ${columns.join(", ")} from ${onEachShard(cluster, select)}
    order by ts desc, click_id desc limit 1 by click_id limit {limit:UInt32}`;
  return await selectRows(clickhouse, { ...statement, text }, row);
}

/** The newest of these clicks in the order of {@link selectClicks}, each once. */
export function newestOf<Row extends OrderedClick>(clicks: readonly Row[], limit: number): Row[] {
  const byId = new Map(clicks.map((click) => [click.click_id, click]));
  return [...byId.values()]
    .toSorted((a, b) => b.ts - a.ts || (a.click_id < b.click_id ? 1 : -1))
    .slice(0, limit);
}

/**
 * The stored click of a workspace with this id. The id contains the time, so one granule is read. In a cluster one replica of each shard is
 * asked, and only if none has the click a quorum of each shard: a row never changes, so the first that is found is the answer. A click that is
 * `isOld` has been on all replicas for long.
 */
export async function selectClick(
  clickhouse: ClickhouseReader,
  workspaceId: number,
  { clickId, isOld }: { readonly clickId: string; readonly isOld: boolean },
): Promise<StoredClick | undefined> {
  const { cluster } = clickhouse;
  const select = `select ${selectList(StoredClick)} from ${tableOn(cluster, "click")}
    where click.workspace_id = {workspace:UInt32}
      and click.ts = fromUnixTimestamp64Milli({at:Int64}, 'UTC')
      and click.click_id = toFixedString(unhex({id:String}), 16)
    limit 1`;
  const params = { workspace: workspaceId, at: clickIdParts(clickId).atMs, id: clickId };
  const statement = { name: "api.click", params, timeoutMs: CLICK_TIMEOUT_MS };
  const columns = Object.keys(StoredClick.shape);
  const text =
    cluster === undefined
      ? select
      : `select ${columns.join(", ")} from ${onEachShard(cluster, select)} limit 1`;
  const [found] = await selectRows(clickhouse, { ...statement, text }, StoredClick);
  if (cluster === undefined || found !== undefined || isOld) return found;
  const [certain] = await selectFromQuorum(
    clickhouse,
    { ...statement, select, columns },
    StoredClick,
  );
  return certain;
}

/** The same rule as the SQL of {@link selectClicks}. */
export function isInScope(scope: ReportScope, click: StoredClick): boolean {
  if (click.workspace_id !== scope.workspaceId) return false;
  switch (scope.role) {
    case "staff":
      return true;
    case "partner":
      return click.affiliate_id === scope.ownerId;
    case "advertiser":
      return click.advertiser_id === scope.ownerId;
  }
}

function scopeConditions(scope: ReportScope, params: Record<string, unknown>): string[] {
  params["workspace"] = scope.workspaceId;
  const workspace = "click.workspace_id = {workspace:UInt32}";
  if (scope.role === "staff") return [workspace];
  params["owner"] = scope.ownerId;
  const column = scope.role === "partner" ? "affiliate_id" : "advertiser_id";
  return [workspace, `click.${column} = {owner:UInt32}`];
}

function filterCondition(
  { column, type, value }: ClickFilter,
  name: string,
  params: Record<string, unknown>,
): string {
  params[name] = value;
  return type === "ClickId"
    ? `click.${column} = toFixedString(unhex({${name}:String}), 16)`
    : `click.${column} = {${name}:${type}}`;
}

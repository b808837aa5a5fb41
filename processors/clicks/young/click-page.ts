import { AD_CLICK_ID_KINDS, type ClickPageQuery } from "../../../schemas/events/click-query.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { type AdClick, adClickKey, rowOf } from "./ad-clicks.ts";
import type { YoungClicks } from "./young-clicks.ts";

export type ClickPage = { readonly clicks: string[]; readonly isCut: boolean };

/** Size of a page. As JSON within JSON it stays below the 1 MiB of a NATS message. */
const PAGE_BYTES_MAX = 400_000;
/** The most rows that are read for a page: the lane does nothing else while it reads them, about 5 µs each. */
const ROWS_MAX = 20_000;
const DEFAULTS: object = ClickRecord.parse({
  click_id: "0".repeat(32),
  ts: 0,
  link_type: "organic",
  status: "none",
});

type Found = { readonly row: string; readonly ts: number; readonly clickId: string };

/**
 * A page of the clicks with an ad ID that were read and are not in ClickHouse yet. It reads rows from the newest one back until the page is
 * full. Undefined if that takes more than `rowsMax` rows, or if the query names no ad ID.
 */
export function clickPage(
  young: YoungClicks,
  query: ClickPageQuery,
  rowsMax = ROWS_MAX,
): ClickPage | undefined {
  const key = keyOf(query);
  if (key === undefined) return undefined;
  const found = findNewest(young.unstoredWith(key), query, rowsMax);
  if (found === undefined) return undefined;
  const clicks: string[] = [];
  let bytes = 0;
  for (const { row } of found.toSorted(newestFirst).slice(0, query.limit)) {
    bytes += Buffer.byteLength(row);
    if (clicks.length > 0 && bytes > PAGE_BYTES_MAX) return { clicks, isCut: true };
    clicks.push(row);
  }
  return { clicks, isCut: false };
}

function keyOf({ workspaceId, where }: ClickPageQuery): string | undefined {
  for (const kind of AD_CLICK_ID_KINDS) {
    const value = where.find(({ column }) => column === kind)?.value;
    if (typeof value === "string") return adClickKey({ workspaceId, kind, value });
  }
  return undefined;
}

/** The matching rows of at least one page; undefined if it must read more than `rowsMax` rows. */
function findNewest(
  unstored: readonly AdClick[],
  query: ClickPageQuery,
  rowsMax: number,
): Found[] | undefined {
  const { fromMs, after, limit } = query;
  const lastMs = Math.min(query.toMs, after?.atMs ?? query.toMs);
  const rows = unstored
    .filter(({ ts }) => ts >= fromMs && ts <= lastMs)
    .reverse()
    .sort((a, b) => b.ts - a.ts);
  const found: Found[] = [];
  let bytes = 0;
  let read = 0;
  let oldestMs = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    // Of the rows of one millisecond the id decides, so all of them are read.
    if (row.ts < oldestMs) break;
    read += 1;
    if (read > rowsMax) return undefined;
    const click = readRow(rowOf(row), query);
    if (click === undefined) continue;
    found.push(click);
    bytes += Buffer.byteLength(click.row);
    const isFull = found.length >= limit || (found.length > 1 && bytes > PAGE_BYTES_MAX);
    if (isFull) oldestMs = row.ts;
  }
  return found;
}

function readRow(row: string, query: ClickPageQuery): Found | undefined {
  const click = parseRow(row);
  const value = (column: string): unknown =>
    Reflect.get(click, column) ?? Reflect.get(DEFAULTS, column);
  const ts = Number(value("ts"));
  const clickId = String(value("click_id"));
  const { fromMs, toMs, after, where } = query;
  const matches =
    value("workspace_id") === query.workspaceId &&
    ts >= fromMs &&
    ts <= toMs &&
    (after === undefined || ts < after.atMs || (ts === after.atMs && clickId < after.clickId)) &&
    where.every((one) => value(one.column) === one.value);
  return matches ? { row, ts, clickId } : undefined;
}

function parseRow(row: string): object {
  try {
    const value: unknown = JSON.parse(row);
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    // ClickHouse refuses the row at its insert, where it is counted.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function newestFirst(a: Found, b: Found): number {
  return b.ts - a.ts || (a.clickId < b.clickId ? 1 : -1);
}

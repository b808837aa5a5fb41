import type { ClickPageQuery } from "../../../schemas/events/click-query.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import type { Batch, Segment } from "../intake/batch.ts";

export type ClickPage = { readonly clicks: string[]; readonly isCut: boolean };

/** The most rows searched for one page. Each takes about 5 µs, in which the lane does nothing else. */
export const ROWS_MAX = 20_000;
/** Size of a page. As JSON within JSON it stays below the 1 MiB of a NATS message. */
const PAGE_BYTES_MAX = 400_000;
const DEFAULTS: object = ClickRecord.parse({
  click_id: "0".repeat(32),
  ts: 0,
  link_type: "organic",
  status: "none",
});

type Found = { readonly row: string; readonly ts: number; readonly clickId: string };

/**
 * A page of the clicks that were read and are not in ClickHouse yet. Undefined if there are more than {@link ROWS_MAX} of them: the
 * writer is too far behind to answer.
 */
export function clickPage(batches: readonly Batch[], query: ClickPageQuery): ClickPage | undefined {
  const segments = batches.flatMap((batch) =>
    batch.segments.filter((segment) => isInQuery(segment, query)),
  );
  const rows = segments.reduce((sum, segment) => sum + segment.to - segment.from, 0);
  if (rows > ROWS_MAX) return undefined;
  const found = segments.flatMap((segment) => rowsOf(segment, query)).toSorted(newestFirst);
  const clicks: string[] = [];
  let bytes = 0;
  for (const { row } of found.slice(0, query.limit)) {
    bytes += Buffer.byteLength(row);
    if (clicks.length > 0 && bytes > PAGE_BYTES_MAX) return { clicks, isCut: true };
    clicks.push(row);
  }
  return { clicks, isCut: false };
}

function isInQuery({ isStored, fromMs, toMs }: Segment, query: ClickPageQuery): boolean {
  const lastMs = Math.min(query.toMs, query.after?.atMs ?? query.toMs);
  return !isStored && fromMs <= lastMs && toMs >= query.fromMs;
}

function rowsOf({ bytes }: Segment, query: ClickPageQuery): Found[] {
  const workspace = `"workspace_id":${query.workspaceId}`;
  return bytes
    .toString("utf8")
    .split("\n")
    .flatMap((row) => {
      if (!row.includes(workspace)) return [];
      const found = readRow(row, query);
      return found === undefined ? [] : [found];
    });
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

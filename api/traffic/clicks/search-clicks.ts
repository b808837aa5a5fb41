import type { z } from "zod";
import { JOURNALED_MS } from "../../../schemas/click-lookup/journaled.ts";
import { readStoredToMs } from "../../../schemas/click-lookup/stored-to.ts";
import type { AdClickIdKind } from "../../../schemas/events/click-query.ts";
import { readLanes } from "../../../schemas/installation/lane-count.ts";
import type { OperationContext } from "../../operation/operation.ts";
import type { StoredClick } from "./click-row.ts";
import {
  type ClickSearch,
  isInScope,
  newestOf,
  type OrderedClick,
  selectClicks,
} from "./clicks.ts";
import { findClick } from "./find-click.ts";
import { readUnstored } from "./young-clicks.ts";

type Stores = Pick<OperationContext, "db" | "clickhouse" | "nats" | "nowMs">;

export type AdClickSearch = Omit<ClickSearch, "filters" | "after" | "isOld" | "counted"> & {
  readonly adId: { readonly kind: AdClickIdKind; readonly value: string };
};

/**
 * A page of the clicks that ClickHouse has, newest first (G264). Following the cursor returns each of them once.
 * @throws {ApiError} `unavailable` when ClickHouse does not answer.
 */
export async function listClicksOf<Row extends OrderedClick>(
  { clickhouse, nowMs }: Pick<Stores, "clickhouse" | "nowMs">,
  row: z.ZodObject & z.ZodType<Row>,
  search: ClickSearch,
): Promise<Row[]> {
  // As reports read: from a replica that may be some seconds behind.
  if (search.counted !== undefined) return await selectClicks(clickhouse, row, search);
  return await selectClicks(clickhouse, row, { ...search, isOld: isOnlyOld(search, nowMs) });
}

/**
 * Until when a list that is read after this has every answered click of its range, UTC ms (G264). Undefined if a lane has no writer that
 * knows, and for the clicks behind a cell of a report.
 */
export async function readCompleteUntil(
  stores: Pick<Stores, "db" | "nats" | "nowMs">,
  search: ClickSearch,
): Promise<number | undefined> {
  if (search.counted !== undefined) return undefined;
  if (isOnlyOld(search, stores.nowMs)) return search.toMs;
  const storedToMs = await readStoredToMs(stores);
  return storedToMs === undefined ? undefined : Math.min(storedToMs, search.toMs);
}

/**
 * The click with this id as a list, if it matches the search. It is found from the moment it was answered (G162).
 * @throws {ApiError} `unavailable` when it may exist and nobody knows.
 */
export async function listClickById<Row extends OrderedClick>(
  stores: Stores,
  row: z.ZodObject & z.ZodType<Row>,
  { search, clickId }: { readonly search: ClickSearch; readonly clickId: string },
): Promise<Row[]> {
  const click = await findClick(stores, search.scope, clickId);
  return click !== undefined && matches(click, search) ? [row.parse(click)] : [];
}

/**
 * The clicks with an ad ID, newest first. Clicks that ClickHouse does not have yet are read from the click writers, so every answered
 * click is found (G162).
 * @throws {ApiError} `unavailable` when a writer or ClickHouse does not answer, or when a writer has not read as far as the range.
 *   The answer is never partial.
 */
export async function searchAdClicks<Row extends OrderedClick>(
  stores: Stores,
  row: z.ZodObject & z.ZodType<Row>,
  { adId: { kind, value }, ...asked }: AdClickSearch,
): Promise<Row[]> {
  const { db, clickhouse, nats, nowMs } = stores;
  const search: ClickSearch = {
    ...asked,
    filters: [{ column: kind, type: "String", value }],
    after: undefined,
  };
  const { workspaceId } = search.scope;
  const isOld = isOnlyOld(search, nowMs);
  // Read for each search: a click of a lane that was added just now must not be missing.
  const lanes = isOld ? [] : (await readLanes(db)).clicks;
  const newestMs = Math.min(search.toMs, nowMs);
  // Ask the writers first: a click that leaves their memory in the meantime is already in ClickHouse.
  const young = await Promise.all(
    lanes.map(async (shard) => {
      const query = { by: "unstored", shard, workspaceId, kind, value } as const;
      return await readUnstored(nats, query, newestMs);
    }),
  );
  const stored = await selectClicks(clickhouse, row, { ...search, isOld });
  const unstored = young
    .flat()
    .filter((click) => isInScope(search.scope, click) && matches(click, search))
    .map((click) => row.parse(click));
  return unstored.length === 0 ? stored : newestOf([...unstored, ...stored], search.limit);
}

/** Whether every click that is asked for has been stored for long. */
function isOnlyOld({ toMs, after }: ClickSearch, nowMs: number): boolean {
  return Math.min(toMs, after?.atMs ?? toMs, nowMs) < nowMs - JOURNALED_MS;
}

function matches(click: StoredClick, { fromMs, toMs, after, filters }: ClickSearch): boolean {
  const { ts, click_id: id } = click;
  const isBehind =
    after === undefined || ts < after.atMs || (ts === after.atMs && id < after.clickId);
  return (
    isBehind &&
    ts >= fromMs &&
    ts <= toMs &&
    filters.every(({ column, value }) => click[column] === value)
  );
}

import type { z } from "zod";
import { JOURNALED_MS } from "../../schemas/click-lookup/journaled.ts";
import type { ClickPageQuery } from "../../schemas/events/click-query.ts";
import { readLanes } from "../../schemas/installation/lane-count.ts";
import type { OperationContext } from "../operation.ts";
import type { ReportScope } from "../reports/report-scope.ts";
import { type ClickSearch, newestOf, type OrderedClick, selectClicks } from "./clicks.ts";
import { readPage } from "./young-clicks.ts";

/**
 * A page of clicks, newest first. Clicks that ClickHouse does not have yet are read from the click writers, so the page includes
 * every answered click (G162). Following the cursor returns each click that was answered before the first page exactly once.
 *
 * @throws {ApiError} `unavailable` when a writer or ClickHouse does not answer, or when a writer has not read as far as the range.
 *   A page is never partial.
 */
export async function searchClicks<Row extends OrderedClick>(
  { db, clickhouse, nats, nowMs }: Pick<OperationContext, "db" | "clickhouse" | "nats" | "nowMs">,
  row: z.ZodObject & z.ZodType<Row>,
  search: ClickSearch,
): Promise<Row[]> {
  // Reports do not count what ClickHouse does not have yet.
  if (search.counted !== undefined) return await selectClicks(clickhouse, row, search);
  const newestMs = Math.min(search.toMs, search.after?.atMs ?? search.toMs, nowMs);
  const isOld = newestMs < nowMs - JOURNALED_MS;
  // Read for each page: a click of a lane that was added just now must not be missing.
  const lanes = isOld ? [] : (await readLanes(db)).clicks;
  // Ask the writers first: a click that leaves their memory in the meantime is already in ClickHouse.
  const pages = await Promise.all(
    lanes.map(async (shard) => await readPage(nats, pageQuery(shard, search), newestMs)),
  );
  const stored = await selectClicks(clickhouse, row, { ...search, isOld });
  if (pages.every((page) => page.length === 0)) return stored;
  const young = pages.flat().map((click) => row.parse(click));
  return newestOf([...young, ...stored], search.limit);
}

function pageQuery(shard: number, search: ClickSearch): ClickPageQuery {
  const { scope, fromMs, toMs, filters, after, limit } = search;
  return {
    by: "page",
    shard,
    workspaceId: scope.workspaceId,
    fromMs,
    toMs,
    limit,
    where: [...ownerOf(scope), ...filters.map(({ column, value }) => ({ column, value }))],
    after,
  };
}

/** The same rule as the SQL of `selectClicks`. */
function ownerOf(scope: ReportScope): ClickPageQuery["where"] {
  switch (scope.role) {
    case "staff":
      return [];
    case "partner":
      return [{ column: "affiliate_id", value: scope.ownerId }];
    case "advertiser":
      return [{ column: "advertiser_id", value: scope.ownerId }];
  }
}

import type { ClickHouseSettings } from "@clickhouse/client";

/** `cluster`: replicated tables. `timeoutMs`: wait at most this long for other replicas to confirm. */
type InsertInto = { readonly layout: "single" | "cluster"; readonly timeoutMs: number };

/**
 * Settings of an insert that ClickHouse stores once, however often it is repeated with the same token. In a cluster it is confirmed when most
 * replicas have it. Inserts of other lanes may wait for their replicas at the same time. The server does not repeat requests to Keeper, so an
 * insert whose outcome is unknown there fails, and its writer settles it.
 */
export function deduplicatedInsert(
  token: string,
  into: InsertInto = { layout: "single", timeoutMs: 0 },
): ClickHouseSettings {
  const once = {
    async_insert: 0,
    insert_deduplicate: 1,
    insert_deduplication_token: token,
  } as const;
  if (into.layout === "single") return once;
  return {
    ...once,
    insert_quorum: "auto",
    insert_quorum_parallel: 1,
    insert_quorum_timeout: into.timeoutMs,
    insert_keeper_max_retries: "0",
  };
}

import type { ClickHouseSettings } from "@clickhouse/client";

/** Settings of an insert that ClickHouse stores once, however often it is repeated with the same token. */
export function deduplicatedInsert(token: string): ClickHouseSettings {
  return { async_insert: 0, insert_deduplicate: 1, insert_deduplication_token: token };
}

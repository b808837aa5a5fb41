import type { Log } from "../host/log.ts";
import { within } from "../host/within.ts";
import type { Clickhouse } from "./connect.ts";
import { isClickhouseAway } from "./errors.ts";
import { assertClickhouseMigrated } from "./migrate.ts";

/** A ClickHouse that works answers within milliseconds. */
const PATIENCE_MS = 2_000;

/**
 * Refuses a ClickHouse whose schema this release cannot use. A start does not wait for a ClickHouse that does not answer (P4); if it later
 * turns out to have another schema, the log says so.
 *
 * @throws {OtherSchemaError} or an Error that says to run the migration.
 */
export async function refuseOtherClickhouse(client: Clickhouse, log: Log): Promise<void> {
  const checked = assertClickhouseMigrated(client).catch((error: unknown) => {
    if (!isClickhouseAway(error)) throw error;
    log.warn({ err: error }, "process.clickhouse-schema-not-confirmed");
  });
  checked.catch((error: unknown) => {
    log.error({ err: error }, "process.clickhouse-schema-is-another");
  });
  await within(PATIENCE_MS, checked);
}

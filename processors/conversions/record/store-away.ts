import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { isPostgresAway, isTransactionConflict } from "../../../schemas/postgres/errors.ts";

/** A store cannot serve now: the sender is told to come again (P15). Everything else is a fault of ours. */
export function isStoreAway(error: unknown): boolean {
  return isPostgresAway(error) || isTransactionConflict(error) || isClickhouseAway(error);
}

import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { isPostgresAway, isTransactionConflict } from "../../../schemas/postgres/errors.ts";

/** Whether the store cannot serve now, so that the sender should send the report again (P15). Every other error is a bug of ours. */
export function isStoreAway(error: unknown): boolean {
  return isPostgresAway(error) || isTransactionConflict(error) || isClickhouseAway(error);
}

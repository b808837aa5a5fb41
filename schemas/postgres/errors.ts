import { SecretFileError } from "../host/secret-file.ts";
import { NETWORK_CODES } from "../net/network-codes.ts";

/** SQLSTATEs that we handle. Any other is an unexpected error. */
export const SQLSTATE = {
  uniqueViolation: "23505",
  foreignKeyViolation: "23503",
  serializationFailure: "40001",
  deadlockDetected: "40P01",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
  sequenceAtEnd: "2200H",
  undefinedTable: "42P01",
  undefinedColumn: "42703",
} as const;

/**
 * Class 08 connection exceptions, 28 a login that is refused, perhaps while its password is changed, 53 out of resources, 57 operator
 * intervention: the server is away or going away. 25006: it is read-only, because another server has become the primary. 25P03 and 25P04: the
 * server ended the connection of a process that stood still in a transaction.
 */
const AWAY = /^(08|28|53|57|25006$|25P03$|25P04$)/;
const DRIVER_AWAY =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error/;

/** SQLSTATE of a failed statement, or the network's code, or "" for anything else. */
export function postgresCode(error: unknown): string {
  if (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "string"
  )
    return error.code;
  return "";
}

/** Name of the unique index or constraint that a statement violated; "" for any other error. */
export function violatedConstraint(error: unknown): string {
  if (
    postgresCode(error) !== SQLSTATE.uniqueViolation &&
    postgresCode(error) !== SQLSTATE.foreignKeyViolation
  )
    return "";
  if (
    typeof error === "object" &&
    error !== null &&
    "constraint" in error &&
    typeof error.constraint === "string"
  ) {
    return error.constraint;
  }
  return "";
}

/** Another transaction conflicted. The statement had no effect and may be repeated at once. */
export function isTransactionConflict(error: unknown): boolean {
  const code = postgresCode(error);
  return code === SQLSTATE.serializationFailure || code === SQLSTATE.deadlockDetected;
}

/** Whether the server is unreachable, too busy or stopping: an outage, never a business error (P15). */
export function isPostgresAway(error: unknown): boolean {
  const code = postgresCode(error);
  if (error instanceof SecretFileError) return true;
  if (NETWORK_CODES.has(code) || AWAY.test(code) || code === SQLSTATE.lockNotAvailable) return true;
  // The driver has no error code for a connection that it closed itself.
  return code === "" && error instanceof Error && DRIVER_AWAY.test(error.message);
}

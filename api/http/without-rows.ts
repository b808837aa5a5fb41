import { postgresCode } from "../../schemas/postgres/errors.ts";

/** Postgres quotes rows and values in `detail` and `where`. These are customers' data and must not be logged (P31). */
export function withoutRows(error: unknown): unknown {
  if (!(error instanceof Error) || !("detail" in error || "where" in error)) return error;
  const kept = new Error(error.message);
  kept.name = error.name;
  if (error.stack !== undefined) kept.stack = error.stack;
  return Object.assign(kept, { code: postgresCode(error) });
}

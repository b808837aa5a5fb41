import type { Queryable } from "../../schemas/postgres/connect.ts";

/** Records of Postgres that reports read from a table of ClickHouse, and the outbox of their changes, `<table>_outbox`. */
export type FactSource = {
  /** Name of the table in ClickHouse. It keeps the highest version of a record. */
  readonly table: string;
  /** Column of the outbox that names the record. */
  readonly reference: string;
  /** Rows for the table, from the current records: never older than the changes that name them. */
  readonly readRows: (db: Queryable, ids: readonly string[]) => Promise<Record<string, unknown>[]>;
};

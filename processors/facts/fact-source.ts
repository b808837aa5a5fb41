import type { Queryable } from "../../schemas/postgres/connect.ts";

/** One pending copy. Several of the same record may be waiting. */
export type PendingFact = { readonly outbox_id: number; readonly id: string };

/** Records of Postgres that reports read from a table of ClickHouse, and the outbox of their changes. */
export type FactSource = {
  /** Name of the table in ClickHouse. It keeps the highest version of a record. */
  readonly table: string;
  /** The oldest changes that are not in ClickHouse yet. */
  readonly listPending: (db: Queryable, limit: number) => Promise<PendingFact[]>;
  /** Rows for the table, from the current records: at least as new as the changes that name them. */
  readonly readRows: (db: Queryable, ids: readonly string[]) => Promise<Record<string, unknown>[]>;
  /** Deletes changes that ClickHouse has confirmed. */
  readonly deletePending: (db: Queryable, outboxIds: readonly number[]) => Promise<void>;
};

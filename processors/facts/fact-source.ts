import type { Queryable } from "../../schemas/postgres/connect.ts";

/** One pending copy; several of the same record may be waiting. */
export type PendingFact = { readonly outbox_id: number; readonly id: string };

/** Records of Postgres that reports read from a table of ClickHouse, with the outbox of their changes. */
export type FactSource = {
  /** Of ClickHouse. It keeps the highest version of a record. */
  readonly table: string;
  /** The oldest changes that ClickHouse has not seen. */
  readonly listPending: (db: Queryable, limit: number) => Promise<PendingFact[]>;
  /** Rows for the table, of records as they are now: at least as new as the changes that name them. */
  readonly readRows: (db: Queryable, ids: readonly string[]) => Promise<Record<string, unknown>[]>;
  /** Forgets changes that ClickHouse has confirmed. */
  readonly deletePending: (db: Queryable, outboxIds: readonly number[]) => Promise<void>;
};

import type { Queryable } from "../../schemas/postgres/connect.ts";
import {
  quoteConditions,
  quoteIdentifier,
  quoteIdentifiers,
} from "../../schemas/postgres/quote.ts";
import type { Position } from "../rest/cursor.ts";
import { keptPlan } from "../rest/kept-plan.ts";

/** A row as it is answered: the names of the columns are the contract's. */
export type ManagedRow = { readonly id: number; readonly created_at: string } & Readonly<
  Record<string, unknown>
>;

export type ManagedColumns = {
  readonly table: string;
  /** What a body may set. */
  readonly written: readonly string[];
  /** Those of `kept` that are set when a row is made, and never again. */
  readonly made?: readonly string[];
  /** What is answered besides: `id`, times, what the service sets. */
  readonly kept: readonly string[];
};

/** Column to the value it must have. The names are those of a resource's declared filters, never a caller's. */
export type ManagedFilters = Readonly<Record<string, unknown>>;

/**
 * The statements of a table whose rows belong to a workspace and are managed one at a time.
 *
 * Every statement has the workspace in its condition. The values of a row travel as one JSON parameter and take the types
 * of the columns in Postgres, so money stays text until it is numeric.
 */
export class ManagedTable {
  readonly #name: string;
  readonly #shown: readonly string[];
  readonly #find: string;
  readonly #lock: string;
  readonly #insert: string;
  readonly #update: string;
  readonly #delete: string;

  constructor({ table, written, kept, made = [] }: ManagedColumns) {
    const shown = [...kept, ...written];
    const inserted = [...made, ...written];
    this.#name = table;
    this.#shown = shown;
    this.#find = `select ${quoteIdentifiers(shown)} from ${quoteIdentifier(table)} where workspace_id = $1 and id = $2`;
    this.#lock = `select ${quoteIdentifiers(shown)} from ${quoteIdentifier(table)} where workspace_id = $1 and id = $2
      for update`;
    this.#insert = `insert into ${quoteIdentifier(table)} (workspace_id, ${quoteIdentifiers(inserted)})
      select $1::integer, ${quoteIdentifiers(inserted)} from jsonb_populate_record(null::${quoteIdentifier(table)}, $2)
      returning ${quoteIdentifiers(shown)}`;
    this.#update = `update ${quoteIdentifier(table)}
      set (${quoteIdentifiers(written)}, updated_at) =
        (select ${quoteIdentifiers(written)}, clock_timestamp()
         from jsonb_populate_record(null::${quoteIdentifier(table)}, $3))
      where workspace_id = $1 and id = $2
      returning ${quoteIdentifiers(shown)}`;
    this.#delete = `delete from ${quoteIdentifier(table)} where workspace_id = $1 and id = $2 returning id`;
  }

  /** Newest first, at most `rowsMax`. */
  async list(
    db: Queryable,
    workspaceId: number,
    page: {
      readonly filters: ManagedFilters;
      readonly after: Position | undefined;
      readonly rowsMax: number;
    },
  ): Promise<ManagedRow[]> {
    const { filters, after, rowsMax } = page;
    const { rows } = await db.query<ManagedRow>({
      ...keptPlan(`managed-list-${this.#name}`, filters),
      text: `select ${quoteIdentifiers(this.#shown)} from ${quoteIdentifier(this.#name)}
        where workspace_id = $1 and (created_at, id) < ($2::timestamptz, $3::integer)
          ${quoteConditions(Object.keys(filters), 5)}
        order by created_at desc, id desc limit $4`,
      values: [
        workspaceId,
        after?.at ?? "infinity",
        after?.id ?? 0,
        rowsMax,
        ...Object.values(filters),
      ],
    });
    return rows;
  }

  async find(db: Queryable, workspaceId: number, id: number): Promise<ManagedRow | undefined> {
    const { rows } = await db.query<ManagedRow>({
      name: `managed-find-${this.#name}`,
      text: this.#find,
      values: [workspaceId, id],
    });
    return rows[0];
  }

  /** As `find`; nobody else changes the row until the end of the transaction. */
  async lock(db: Queryable, workspaceId: number, id: number): Promise<ManagedRow | undefined> {
    const { rows } = await db.query<ManagedRow>({
      name: `managed-lock-${this.#name}`,
      text: this.#lock,
      values: [workspaceId, id],
    });
    return rows[0];
  }

  /**
   * Counts the rows that have these values, up to `rowsMax`. Whoever counts rows of this table and workspace waits for the
   * end of this transaction, so what is inserted after it is counted by the next.
   */
  async countForInsert(
    db: Queryable,
    workspaceId: number,
    count: { readonly having: ManagedFilters; readonly rowsMax: number },
  ): Promise<number> {
    await db.query({
      name: "managed-lock-count",
      text: "select pg_advisory_xact_lock(hashtext($1::text), $2::integer)",
      values: [this.#name, workspaceId],
    });
    const { rows } = await db.query<{ count: number }>({
      text: `select count(*) as count from (
        select from ${quoteIdentifier(this.#name)}
        where workspace_id = $1 ${quoteConditions(Object.keys(count.having), 3)} limit $2) counted`,
      values: [workspaceId, count.rowsMax, ...Object.values(count.having)],
    });
    return rows[0]?.count ?? 0;
  }

  /** `values` has every written column, and every made one. @throws a violation of a constraint. */
  async insert(
    db: Queryable,
    workspaceId: number,
    values: Readonly<Record<string, unknown>>,
  ): Promise<ManagedRow> {
    const { rows } = await db.query<ManagedRow>({
      name: `managed-insert-${this.#name}`,
      text: this.#insert,
      values: [workspaceId, JSON.stringify(values)],
    });
    const [row] = rows;
    if (row === undefined) throw new Error(`an insert into ${this.#name} answers its row`);
    return row;
  }

  /** `values` has every written column. Undefined when the row is gone. @throws a violation of a constraint. */
  async update(
    db: Queryable,
    workspaceId: number,
    row: { readonly id: number; readonly values: Readonly<Record<string, unknown>> },
  ): Promise<ManagedRow | undefined> {
    const { rows } = await db.query<ManagedRow>({
      name: `managed-update-${this.#name}`,
      text: this.#update,
      values: [workspaceId, row.id, JSON.stringify(row.values)],
    });
    return rows[0];
  }

  /** False when there was no such row. @throws a violation of a foreign key when others use the row. */
  async delete(db: Queryable, workspaceId: number, id: number): Promise<boolean> {
    const { rows } = await db.query<{ id: number }>({
      name: `managed-delete-${this.#name}`,
      text: this.#delete,
      values: [workspaceId, id],
    });
    return rows.length > 0;
  }
}

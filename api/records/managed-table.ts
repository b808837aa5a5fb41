import { createHash } from "node:crypto";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import {
  type Condition,
  quoteConditions,
  quoteIdentifier,
  quoteIdentifiers,
} from "../../schemas/postgres/quote.ts";
import { conditionsOf, type Filter, type FilterValues } from "../http/filter-conditions.ts";
import {
  byTime,
  keysetOf,
  quoteAfter,
  quoteOrder,
  type SortColumn,
  sortedBy,
} from "../http/list-order.ts";
import type { SortedPage } from "../http/page.ts";
import { statementName } from "../http/statement-name.ts";
import type { Reference } from "../operation/codes.ts";

/** A row as it is answered, with the contract's column names. */
export type ManagedRow = { readonly id: number; readonly created_at: string } & Readonly<
  Record<string, unknown>
>;

export type ManagedColumns = {
  readonly table: string;
  /** Column of the record that the rows belong to; default `workspace_id`. */
  readonly owner?: string;
  /** Columns that a write sets. */
  readonly written: readonly string[];
  /** The `readOnly` columns that are set on creation and never again. */
  readonly setOnCreate?: readonly string[];
  /** Further columns of answers: `id`, times, columns that the service sets. */
  readonly readOnly: readonly string[];
  /** Filters with a condition other than "the column of this name has this value". */
  readonly filters?: Readonly<Record<string, Filter>> | undefined;
  /** Columns other than `created_at` by which `list` can sort. */
  readonly sorts?: Readonly<Record<string, SortColumn>> | undefined;
};

/**
 * The statements of a table whose rows belong to a workspace or to another record, and are managed one at a time.
 *
 * Every statement has the owner in its condition. The values of a row travel as one JSON parameter and get the types of the columns
 * in Postgres, so money stays text until it is numeric. `Row` is the type in which rows are read. The names of columns and filters
 * come from the description of the resource, never from a caller.
 */
export class ManagedTable<Row extends { readonly id: number } = ManagedRow> {
  readonly #name: string;
  /**
   * Suffix of the names of prepared statements. A record and its settings are two descriptions of one table with different texts.
   */
  readonly #plan: string;
  readonly #owner: string;
  readonly #shown: readonly string[];
  readonly #inserted: readonly string[];
  readonly #written: readonly string[];
  readonly #filters: Readonly<Record<string, Filter>>;
  readonly #sorts: Readonly<Record<string, SortColumn>>;

  constructor(columns: ManagedColumns) {
    const {
      table,
      owner = "workspace_id",
      written,
      setOnCreate = [],
      readOnly,
      filters = {},
      sorts = {},
    } = columns;
    this.#name = table;
    this.#plan = `${table}-${createHash("sha256").update(JSON.stringify(columns)).digest("hex").slice(0, 8)}`;
    this.#owner = owner;
    this.#shown = [...new Set([...readOnly, ...written])];
    this.#inserted = [...setOnCreate, ...written];
    this.#written = written;
    this.#filters = filters;
    this.#sorts = { ...sorts, created_at: byTime("created_at") };
  }

  /** At most `rowsMax` in the order of `sort`, else newest first. */
  async list(
    db: Queryable,
    ownerId: number,
    { filters, after, rowsMax, sort = "-created_at" }: SortedPage,
  ): Promise<Row[]> {
    const conditions = this.#conditions(filters);
    const column = this.#sorts[sortedBy(sort)];
    if (column === undefined) throw new Error(`${this.#name} cannot be sorted by ${sort}`);
    const keyset = keysetOf(column, sort, { id: "id", type: "integer", after });
    const { rows } = await db.query<Row>({
      ...(sort === "-created_at" ? statementName(`managed-list-${this.#plan}`, filters) : {}),
      text: `select ${quoteIdentifiers(this.#shown)} from ${quoteIdentifier(this.#name)}
        where ${quoteIdentifier(this.#owner)} = $1 and ${quoteAfter(keyset)}
          ${quoteConditions(conditions, 5)}
        order by ${quoteOrder(keyset)} limit $4`,
      values: [
        ownerId,
        keyset.at,
        after?.id ?? 0,
        rowsMax,
        ...conditions.flatMap(({ values }) => values),
      ],
    });
    return rows;
  }

  /** How many rows the whole list has, up to `countMax`. */
  async count(
    db: Queryable,
    ownerId: number,
    { filters, countMax }: { readonly filters: FilterValues; readonly countMax: number },
  ): Promise<number> {
    const conditions = this.#conditions(filters);
    const { rows } = await db.query<{ count: number }>({
      text: `select count(*)::integer as count from (select from ${quoteIdentifier(this.#name)}
          where ${quoteIdentifier(this.#owner)} = $1 ${quoteConditions(conditions, 3)} limit $2) found`,
      values: [ownerId, countMax, ...conditions.flatMap(({ values }) => values)],
    });
    return rows[0]?.count ?? 0;
  }

  async find(db: Queryable, ownerId: number, id: number): Promise<Row | undefined> {
    const { rows } = await db.query<Row>({
      name: `managed-find-${this.#plan}`,
      text: `select ${quoteIdentifiers(this.#shown)} from ${quoteIdentifier(this.#name)}
        where ${quoteIdentifier(this.#owner)} = $1 and id = $2`,
      values: [ownerId, id],
    });
    return rows[0];
  }

  /** By id, else by code (G25). Only for tables whose rows have a code. */
  async findByReference(
    db: Queryable,
    ownerId: number,
    { id, code }: Reference,
  ): Promise<Row | undefined> {
    const { rows } = await db.query<Row>({
      name: `managed-find-by-reference-${this.#plan}`,
      text: `select ${quoteIdentifiers(this.#shown)} from ${quoteIdentifier(this.#name)}
        where ${quoteIdentifier(this.#owner)} = $1 and (id = $2 or lower(code) = lower($3))
        order by id = $2 desc limit 1`,
      values: [ownerId, id, code],
    });
    return rows[0];
  }

  /** Like `find`, and locks the row until the end of the transaction. New rows that refer to it do not wait. */
  async lock(db: Queryable, ownerId: number, id: number): Promise<Row | undefined> {
    const { rows } = await db.query<Row>({
      name: `managed-lock-${this.#plan}`,
      text: `select ${quoteIdentifiers(this.#shown)} from ${quoteIdentifier(this.#name)}
        where ${quoteIdentifier(this.#owner)} = $1 and id = $2 for no key update`,
      values: [ownerId, id],
    });
    return rows[0];
  }

  /**
   * Counts the rows with these values, up to `rowsMax`. Any other count for this table and workspace waits for the end of this
   * transaction, so it includes the rows that this transaction inserts.
   */
  async countForInsert(
    db: Queryable,
    ownerId: number,
    count: { readonly having: FilterValues; readonly rowsMax: number },
  ): Promise<number> {
    await db.query({
      name: "managed-lock-count",
      text: "select pg_advisory_xact_lock(hashtext($1::text), $2::integer)",
      values: [this.#name, ownerId],
    });
    const conditions = this.#conditions(count.having);
    const { rows } = await db.query<{ count: number }>({
      text: `select count(*) as count from (
        select from ${quoteIdentifier(this.#name)}
        where ${quoteIdentifier(this.#owner)} = $1 ${quoteConditions(conditions, 3)} limit $2) counted`,
      values: [ownerId, count.rowsMax, ...conditions.flatMap(({ values }) => values)],
    });
    return rows[0]?.count ?? 0;
  }

  /** `values` must have every written and every set-on-create column. @throws on a violation of a constraint. */
  async insert(db: Queryable, ownerId: number, values: object): Promise<Row> {
    const { rows } = await db.query<Row>({
      name: `managed-insert-${this.#plan}`,
      text: `insert into ${quoteIdentifier(this.#name)} (${quoteIdentifier(this.#owner)}, ${quoteIdentifiers(this.#inserted)})
        select $1::integer, ${quoteIdentifiers(this.#inserted)}
        from jsonb_populate_record(null::${quoteIdentifier(this.#name)}, $2)
        returning ${quoteIdentifiers(this.#shown)}`,
      values: [ownerId, JSON.stringify(values)],
    });
    const [row] = rows;
    if (row === undefined) throw new Error(`an insert into ${this.#name} returned no row`);
    return row;
  }

  /** `values` must have every written column. Undefined when the row no longer exists. @throws on a violation of a constraint. */
  async update(
    db: Queryable,
    ownerId: number,
    row: { readonly id: number; readonly values: object },
  ): Promise<Row | undefined> {
    const { rows } = await db.query<Row>({
      name: `managed-update-${this.#plan}`,
      text: `update ${quoteIdentifier(this.#name)}
        set (${quoteIdentifiers(this.#written)}, updated_at) =
          (select ${quoteIdentifiers(this.#written)}, clock_timestamp()
           from jsonb_populate_record(null::${quoteIdentifier(this.#name)}, $3))
        where ${quoteIdentifier(this.#owner)} = $1 and id = $2
        returning ${quoteIdentifiers(this.#shown)}`,
      values: [ownerId, row.id, JSON.stringify(row.values)],
    });
    return rows[0];
  }

  /** Sets only one column. Undefined when the row no longer exists. */
  async set(
    db: Queryable,
    ownerId: number,
    to: { readonly id: number; readonly column: string; readonly value: unknown },
  ): Promise<Row | undefined> {
    const { rows } = await db.query<Row>({
      name: `managed-set-${this.#plan}-${to.column}`,
      text: `update ${quoteIdentifier(this.#name)} set ${quoteIdentifier(to.column)} = $3, updated_at = clock_timestamp()
        where ${quoteIdentifier(this.#owner)} = $1 and id = $2
        returning ${quoteIdentifiers(this.#shown)}`,
      values: [ownerId, to.id, to.value],
    });
    return rows[0];
  }

  /** Sets a sealed column of a row that was written in the same transaction. Undefined when the row no longer exists. */
  async setSealed(
    db: Queryable,
    ownerId: number,
    to: { readonly id: number; readonly column: string; readonly value: Buffer | null },
  ): Promise<Row | undefined> {
    const { rows } = await db.query<Row>({
      name: `managed-seal-${this.#plan}-${to.column}`,
      text: `update ${quoteIdentifier(this.#name)} set ${quoteIdentifier(to.column)} = $3
        where ${quoteIdentifier(this.#owner)} = $1 and id = $2
        returning ${quoteIdentifiers(this.#shown)}`,
      values: [ownerId, to.id, to.value],
    });
    return rows[0];
  }

  /** False when the row did not exist. @throws on a violation of a foreign key when others use the row. */
  async delete(db: Queryable, ownerId: number, id: number): Promise<boolean> {
    const { rows } = await db.query<{ id: number }>({
      name: `managed-delete-${this.#plan}`,
      text: `delete from ${quoteIdentifier(this.#name)}
        where ${quoteIdentifier(this.#owner)} = $1 and id = $2 returning id`,
      values: [ownerId, id],
    });
    return rows.length > 0;
  }

  #conditions(filters: FilterValues): readonly Condition[] {
    return conditionsOf(filters, this.#filters);
  }
}

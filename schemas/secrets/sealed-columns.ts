import type { Queryable } from "../postgres/connect.ts";
import type { SecretKeys } from "./secret-keys.ts";

/** A column of bytea whose values are sealed by {@link SecretKeys}. */
type SealedColumn = {
  /** Begins the purpose of its values: `<table>/<column>`. */
  readonly name: string;
  /** Rows of a batch: what is held in memory at once. */
  readonly rowsMax: number;
  /** Selects `key_id`, the id of a key as hexadecimal digits, and `count`. */
  readonly count: string;
  /**
   * Selects `at`, the place of a row in the order of the batches; `owner`, the end of the purpose of its value; and `value`: $2 rows after
   * place $3 that another key than $1 sealed. The first place is the empty text.
   */
  readonly read: string;
  /** Writes the values $1 over the values $2 at the places $3, where they are still the same. */
  readonly write: string;
};

const FILE_ROWS = 10;
const DETAILS_ROWS = 500;

/** Every sealed column. `tracker secrets` and `tracker doctor` look at these. */
export const SEALED_COLUMNS = {
  affiliate: {
    name: "affiliate/payment_details",
    rowsMax: DETAILS_ROWS,
    count: `select encode(substr(payment_details, 1, 4), 'hex') as key_id, count(*) as count
            from affiliate where payment_details is not null group by 1`,
    read: `select id::text as at, id::text as owner, payment_details as value from affiliate
           where substr(payment_details, 1, 4) <> decode($1, 'hex') and id > coalesce(nullif($3, '')::integer, 0)
           order by id limit $2`,
    write: `update affiliate t set payment_details = n.sealed
            from unnest($1::bytea[], $2::bytea[], $3::integer[]) as n(sealed, value, at)
            where t.id = n.at and t.payment_details = n.value`,
  },
  payment_account: {
    name: "payment_account/sealed",
    rowsMax: DETAILS_ROWS,
    count: `select encode(substr(sealed, 1, 4), 'hex') as key_id, count(*) as count from payment_account group by 1`,
    read: `select affiliate_id::text as at, affiliate_id::text as owner, sealed as value from payment_account
           where substr(sealed, 1, 4) <> decode($1, 'hex') and affiliate_id > coalesce(nullif($3, '')::integer, 0)
           order by affiliate_id limit $2`,
    write: `update payment_account t set sealed = n.sealed
            from unnest($1::bytea[], $2::bytea[], $3::integer[]) as n(sealed, value, at)
            where t.affiliate_id = n.at and t.sealed = n.value`,
  },
  payout_line: {
    name: "payout_line/details",
    rowsMax: DETAILS_ROWS,
    count: `select encode(substr(details, 1, 4), 'hex') as key_id, count(*) as count
            from payout_line where details is not null group by 1`,
    read: `select id::text as at, id::text as owner, details as value from payout_line
           where substr(details, 1, 4) <> decode($1, 'hex') and id > coalesce(nullif($3, '')::bigint, 0)
           order by id limit $2`,
    write: `update payout_line t set details = n.sealed
            from unnest($1::bytea[], $2::bytea[], $3::bigint[]) as n(sealed, value, at)
            where t.id = n.at and t.details = n.value`,
  },
  billing_file: {
    name: "billing_file/bytes",
    rowsMax: FILE_ROWS,
    count: `select encode(substr(bytes, 1, 4), 'hex') as key_id, count(*) as count
            from billing_file where is_sealed group by 1`,
    read: `select id::text as at, owner_kind || '/' || owner_id || '/' || format as owner, bytes as value from billing_file
           where is_sealed and substr(bytes, 1, 4) <> decode($1, 'hex') and id > coalesce(nullif($3, '')::bigint, 0)
           order by id limit $2`,
    write: `update billing_file t set bytes = n.sealed
            from unnest($1::bytea[], $2::bytea[], $3::bigint[]) as n(sealed, value, at)
            where t.id = n.at and t.bytes = n.value`,
  },
  idempotent_answer: {
    name: "idempotent_answer/sealed",
    rowsMax: DETAILS_ROWS,
    count: `select encode(substr(sealed, 1, 4), 'hex') as key_id, count(*) as count
            from idempotent_answer where sealed is not null group by 1`,
    read: `select at, at as owner, value
           from (select (workspace_id || '/' || key) collate "C" as at, sealed as value from idempotent_answer where sealed is not null) a
           where substr(value, 1, 4) <> decode($1, 'hex') and at > $3
           order by at limit $2`,
    write: `update idempotent_answer t set sealed = n.sealed
            from unnest($1::bytea[], $2::bytea[], $3::text[]) as n(sealed, value, at)
            where t.workspace_id || '/' || t.key = n.at and t.sealed = n.value`,
  },
  import_part: {
    name: "import_part/bytes",
    rowsMax: FILE_ROWS,
    count: `select encode(substr(bytes, 1, 4), 'hex') as key_id, count(*) as count
            from import_part where is_sealed group by 1`,
    read: `select at, at as owner, value
           from (select (import_id || '/' || number) collate "C" as at, bytes as value from import_part where is_sealed) a
           where substr(value, 1, 4) <> decode($1, 'hex') and at > $3
           order by at limit $2`,
    write: `update import_part t set bytes = n.sealed
            from unnest($1::bytea[], $2::bytea[], $3::text[]) as n(sealed, value, at)
            where t.import_id || '/' || t.number = n.at and t.bytes = n.value`,
  },
} as const satisfies Readonly<Record<string, SealedColumn>>;

const COLUMNS: readonly SealedColumn[] = Object.values(SEALED_COLUMNS);

/** What a value is sealed for. `owner`: the values of a unique key of its row. */
export function purposeOf(
  column: keyof typeof SEALED_COLUMNS,
  ...owner: readonly (string | number)[]
): string {
  return [SEALED_COLUMNS[column].name, ...owner].join("/");
}

/** How many sealed values each key has, by its id. */
export async function countByKey(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const total = new Map<string, number>();
  for (const { name, count } of COLUMNS) {
    const { rows } = await db.query<{ key_id: string; count: number }>({
      name: `count-sealed-${name}`,
      text: count,
    });
    for (const row of rows) total.set(row.key_id, (total.get(row.key_id) ?? 0) + row.count);
  }
  return total;
}

/** How many values were sealed anew, and how many no key of the ring opens. */
export type Resealed = { readonly resealed: number; readonly unopened: number };

/**
 * Seals every value anew that another key than the first one sealed, a batch at a time. It may be killed at any point and run again, because a
 * value of the first key is left alone. A value that changes meanwhile stays as it was changed.
 */
export async function resealAll(
  db: Queryable,
  keys: SecretKeys,
  onBatch: (done: Resealed) => void,
): Promise<Resealed> {
  let resealed = 0;
  let unopened = 0;
  for (const column of COLUMNS) {
    let after = "";
    for (;;) {
      const batch = await readBatch(db, column, [keys.sealingId, column.rowsMax, after]);
      const anew = sealAnew(keys, column, batch);
      unopened += batch.length - anew.length;
      resealed += await writeBatch(db, column, anew);
      if (batch.length > 0) onBatch({ resealed, unopened });
      after = batch.at(-1)?.at ?? "";
      if (batch.length < column.rowsMax) break;
    }
  }
  return { resealed, unopened };
}

type SealedRow = { readonly at: string; readonly owner: string; readonly value: Buffer };
type NewRow = SealedRow & { readonly sealed: Buffer };

async function readBatch(
  db: Queryable,
  { name, read }: SealedColumn,
  values: readonly [string | undefined, number, string],
): Promise<SealedRow[]> {
  const { rows } = await db.query<SealedRow>({
    name: `read-sealed-${name}`,
    text: read,
    values: [...values],
  });
  return rows;
}

function sealAnew(keys: SecretKeys, { name }: SealedColumn, batch: readonly SealedRow[]): NewRow[] {
  return batch.flatMap((row) => {
    const purpose = `${name}/${row.owner}`;
    const plain = keys.openBytes(purpose, row.value);
    return plain === undefined ? [] : [{ ...row, sealed: keys.sealBytes(purpose, plain) }];
  });
}

async function writeBatch(
  db: Queryable,
  { name, write }: SealedColumn,
  rows: readonly NewRow[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const { rowCount } = await db.query({
    name: `write-sealed-${name}`,
    text: write,
    values: [
      rows.map(({ sealed }) => sealed),
      rows.map(({ value }) => value),
      rows.map(({ at }) => at),
    ],
  });
  return rowCount ?? 0;
}

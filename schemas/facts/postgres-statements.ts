/** SQL texts for the records of a table of facts in Postgres. Only constants of this folder, never values. */
export type PostgresNames = {
  readonly table: "conversion" | "ad_cost";
  readonly outbox: { readonly table: string; readonly column: string };
  readonly idType: "uuid" | "bigint";
  readonly money: readonly string[];
  /** Time of the record, UTC milliseconds since 1970; and of the first and the last one. */
  readonly atMs: string;
  readonly firstMs: string;
  readonly lastMs: string;
  /** Records from $2 up to before $3, both `2026-01-31 00:00:00.000` in UTC. It uses the index of the workspace. */
  readonly inSpan: string;
  /** SQL of one text with everything that reports sum or filter by and that may change. */
  readonly content: string;
  /** The part of ClickHouse's key after workspace, time and id. */
  readonly offerId: string;
};

/** Statements on the records of one table. Spans are ($1 workspace, $2 from, $3 to). */
export type PostgresStatements = {
  readonly table: PostgresNames["table"];
  /** Sums by period of $4 milliseconds and currency, or by slice of $4. */
  readonly sumsByPeriod: string;
  readonly sumsBySlice: string;
  /** Rows of slice $5 of $4. */
  readonly rows: string;
  /** Rows with the ids $1, each with whether it has a change in the outbox. */
  readonly rowsById: string;
  /** First and last record of each workspace that has any. */
  readonly ends: string;
  /** Puts the ids $1 into the outbox and raises their versions above $2. */
  readonly resend: string;
  /** Counts the changes in the outbox, up to $1. */
  readonly waiting: string;
  readonly newestWaiting: string;
  /** Returns a row while changes up to $1 are in the outbox. */
  readonly waitsUpTo: string;
};

export function postgresStatements(names: PostgresNames): PostgresStatements {
  const { table, outbox, idType, money, atMs, inSpan, content } = names;
  const columns = `select id::text as id_text, ${atMs} as "atMs", ${names.offerId} as "offerId", version,
    md5(${content}) as digest, currency, array[${money.map((column) => `${column}::text`).join(", ")}] as money`;
  const sums = `currency, count(*) as rows, sum(version) as versions,
    array[${money.map((column) => `sum(${column})::text`).join(", ")}] as money, sum(${hashOf(content)}) as hash
    from ${table} where workspace_id = $1 and ${inSpan} group by 1, 2`;
  const slice = hashOf("id::text");
  return {
    table,
    sumsByPeriod: `select ${atMs} / $4::bigint * $4::bigint as grp, ${sums}`,
    sumsBySlice: `select ${slice} % $4::bigint as grp, ${sums}`,
    rows: `${columns} from ${table} where workspace_id = $1 and ${inSpan} and ${slice} % $4::bigint = $5::bigint`,
    rowsById: `${columns},
      exists (select from ${outbox.table} o where o.${outbox.column} = r.id) as "isPending"
      from ${table} r where id = any($1::${idType}[])`,
    ends: `select w.id as workspace, e."firstMs", e."lastMs" from workspace w
      cross join lateral (
        select ${names.firstMs} as "firstMs", ${names.lastMs} as "lastMs" from ${table} where workspace_id = w.id
      ) e where e."firstMs" is not null`,
    resend: `with wanted as (
        select id, above from unnest($1::${idType}[], $2::integer[]) as given(id, above)
      ), raised as (
        update ${table} r set version = w.above + 1 from wanted w where r.id = w.id and r.version <= w.above
      )
      insert into ${outbox.table} (${outbox.column}) select w.id from wanted w join ${table} r on r.id = w.id`,
    waiting: `select count(*) as waiting from (select from ${outbox.table} limit $1) first_rows`,
    newestWaiting: `select max(id) as newest from ${outbox.table}`,
    waitsUpTo: `select from ${outbox.table} where id <= $1 limit 1`,
  };
}

/** A 32-bit hash, equal to the one in the ClickHouse statements. */
function hashOf(text: string): string {
  return `('x' || left(md5(${text}), 8))::bit(32)::bigint`;
}

import type { Queryable } from "../../../schemas/postgres/connect.ts";

/** What waits in Postgres to be sent on. Counts stop at {@link COUNT_MAX}. */
export type Waiting = {
  readonly conversions: number;
  readonly ad_costs: number;
  readonly deliveries: number;
  readonly oldest_delivery_seconds: number;
};

export const COUNT_MAX = 100_000;

/** Facts that ClickHouse does not have yet, and deliveries that have not reached their receivers. */
export async function readWaiting(db: Queryable): Promise<Waiting> {
  const { rows } = await db.query<Waiting>({
    name: "system-waiting",
    text: `select
             (select count(*) from (select from conversion_fact_outbox limit $1) c)::bigint as conversions,
             (select count(*) from (select from ad_cost_fact_outbox limit $1) a)::bigint as ad_costs,
             (select count(*) from (select from delivery where due_at is not null limit $1) d)::bigint as deliveries,
             (select coalesce(greatest(0, extract(epoch from now() - min(due_at))), 0)::float8 from waiting_endpoints())
               as oldest_delivery_seconds`,
    values: [COUNT_MAX],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("Postgres returned no row for a row of counts");
  return row;
}

export async function readPostgresVersion(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ version: string }>({
    name: "postgres-version",
    text: "select current_setting('server_version') as version",
  });
  return rows[0]?.version ?? "";
}

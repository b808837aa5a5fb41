import { z } from "zod";
import type { Clickhouse } from "../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../schemas/clickhouse/select.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";

/** A server and its start time. */
export type StoreStart = {
  readonly server: string;
  readonly startedAtMs: number;
  /** The server was seen before and has restarted since. */
  readonly hasRestarted: boolean;
};

/** ClickHouse reports its uptime in whole seconds. */
const TOLERANCE_MS = 2_000;

const Host = z.object({ host: z.string(), startedAtMs: z.number() });
const Noted = z.object({ server: z.string(), startedAtMs: z.number() });

const SERVER_START = `select hostName() as host, (toInt64(toUnixTimestamp(now())) - toInt64(uptime())) * 1000 as "startedAtMs"`;
/** Two nodes of a cluster may have one host name, but never the same macros. */
const NODE_START = `select concat(hostName(), ' ', getMacro('shard'), '-', getMacro('replica')) as host,
  (toInt64(toUnixTimestamp(now())) - toInt64(uptime())) * 1000 as "startedAtMs"`;

/** The servers that answer now. Behind a load balancer that is one of several; later rounds see the others. */
export async function listStarts(db: Queryable, clickhouse: Clickhouse): Promise<StoreStart[]> {
  const { rows } = await db.query({
    name: "list-store-starts",
    text: `select server, (extract(epoch from started_at) * 1000)::bigint as "startedAtMs" from fact_store_start
           union all select 'now', (extract(epoch from pg_postmaster_start_time()) * 1000)::bigint`,
  });
  const noted = new Map(
    z
      .array(Noted)
      .parse(rows)
      .map(({ server, startedAtMs }) => [server, startedAtMs]),
  );
  const text = clickhouse.cluster === undefined ? SERVER_START : NODE_START;
  const hosts = await selectRows(clickhouse, { name: "processors.store-start", text }, Host);
  const seen = [
    { server: "postgres", startedAtMs: noted.get("now") ?? 0 },
    ...hosts.map(({ host, startedAtMs }) => ({ server: `clickhouse ${host}`, startedAtMs })),
  ];
  return seen.map(({ server, startedAtMs }) => {
    const before = noted.get(server);
    const hasRestarted = before !== undefined && startedAtMs > before + TOLERANCE_MS;
    return { server, startedAtMs, hasRestarted };
  });
}

export async function noteStarts(db: Queryable, starts: readonly StoreStart[]): Promise<void> {
  await db.query({
    name: "note-store-starts",
    text: `insert into fact_store_start (server, started_at)
           select server, to_timestamp(ms / 1000.0) from unnest($1::text[], $2::bigint[]) as seen(server, ms)
           on conflict (server) do update set started_at = excluded.started_at
           where fact_store_start.started_at <> excluded.started_at`,
    values: [starts.map(({ server }) => server), starts.map(({ startedAtMs }) => startedAtMs)],
  });
}

import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { syncInserts } from "../../schemas/clickhouse/sync-inserts.ts";
import { joinStores } from "../../schemas/installation/incarnation.ts";
import { StreamMarks } from "../../schemas/installation/stream-marks.ts";
import { connectNats, type NatsOptions } from "../../schemas/nats/connect.ts";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { openPool, type PostgresServer } from "../../schemas/postgres/connect.ts";
import { makeLogDays } from "../../schemas/postgres/log-days.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { setRoleLimits } from "../../schemas/postgres/role-limits.ts";
import type { Command } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findServers, type Servers } from "./servers.ts";

/** A migration may build an index over a large table. */
const MIGRATION_TIMEOUT_MS = 3_600_000;

export const migrateCommand: Command = {
  name: "migrate",
  summary: "brings Postgres, ClickHouse and JetStream to this version",
  options: {},
  examples: ["migrate"],
  notes: "Safe to run twice.",
  run: async (_given, { servers, dataDir, natsPrefix: prefix, streams, ...environment }) => {
    const found = findServers(["postgres", "nats", "clickhouse"], servers, dataDir);
    const nats = { ...found.nats, name: "tracker migrate", prefix, streams };
    const { durability, postgresDirect } = environment;
    const isStrict = durability.level === "strict";
    const direct = postgresDirect ?? found.postgres;
    return (await migrateStores({ ...found, nats, isStrict, direct })).join("\n");
  },
};

/** Brings the three stores to the version of this release. Safe to run twice. Returns one line for each store. */
async function migrateStores({
  postgres,
  nats,
  clickhouse,
  isStrict,
  direct,
}: Servers & {
  readonly nats: NatsOptions;
  readonly isStrict: boolean;
  readonly direct: PostgresServer;
}): Promise<string[]> {
  return [
    await migration("Postgres", async () => {
      const applied = appliedText(await migratePostgresAt(direct));
      const isLimited = await setRoleLimitsAt(postgres);
      return isLimited ? applied : `${applied}; our role may not set its own time limits`;
    }),
    await migration("ClickHouse", async () => {
      const applied = appliedText(await migrateClickhouse(clickhouse));
      const synced = isStrict ? await syncInserts(clickhouse) : [];
      return synced.length === 0 ? applied : `${applied}; syncs inserts into ${synced.join(", ")}`;
    }),
    await migration("JetStream", async () => await ensureStreamsAt(nats)),
    await migration("Stores", async () => await joinStoresAt({ postgres, clickhouse, nats })),
  ];
}

async function migratePostgresAt(server: PostgresServer): Promise<string[]> {
  const pool = openPool({
    ...server,
    applicationName: "tracker migrate",
    connectionsMax: 2,
    statementTimeoutMs: MIGRATION_TIMEOUT_MS,
  });
  try {
    const applied = await migratePostgres(pool);
    await makeLogDays(pool);
    return applied;
  } finally {
    await pool.end();
  }
}

/** Over the address of the processes, because theirs may be another role than that of migrations. */
async function setRoleLimitsAt(server: PostgresServer): Promise<boolean> {
  const pool = openPool({ ...server, applicationName: "tracker migrate", connectionsMax: 1 });
  try {
    return await setRoleLimits(pool);
  } finally {
    await pool.end();
  }
}

/** A mismatch does not stop the migration: the processes also report it, and after a restore `tracker restored` runs next. */
async function joinStoresAt({
  postgres,
  clickhouse: server,
  nats: options,
}: Servers & { readonly nats: NatsOptions }): Promise<string> {
  const pool = openPool({
    ...postgres,
    applicationName: "tracker migrate",
    connectionsMax: 1,
  });
  const clickhouse = openClickhouse({ ...server, applicationName: "tracker migrate" });
  const nats = await connectNats(options);
  try {
    return (await joinStores(pool, clickhouse, new StreamMarks(() => nats)))
      ? "Postgres, ClickHouse and the streams belong together"
      : "Postgres, ClickHouse and the streams are not of one installation, or one was restored: run `tracker restored`";
  } finally {
    await nats.connection.close();
    await clickhouse.close();
    await pool.end();
  }
}

async function ensureStreamsAt(options: NatsOptions): Promise<string> {
  const nats = await connectNats(options);
  try {
    const { name, replicas } = await ensureStreams(nats);
    return `${name} is as this release needs it, in ${replicas} ${replicas === 1 ? "copy" : "copies"}`;
  } finally {
    await nats.connection.close();
  }
}

async function migration(store: string, run: () => Promise<string>): Promise<string> {
  try {
    return `${store}: ${await run()}`;
  } catch (error) {
    const fault = error instanceof Error ? error.message || error.name : String(error);
    throw new CommandError(`${store} was not migrated: ${fault}`, { cause: error });
  }
}

function appliedText(applied: readonly string[]): string {
  return applied.length === 0 ? "is up to date" : `applied ${applied.join(", ")}`;
}

import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { joinStores } from "../../schemas/installation/incarnation.ts";
import { connectNats } from "../../schemas/nats/connect.ts";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { makeLogDays } from "../../schemas/postgres/log-days.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import type { Command } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findServers, type ServerUrls } from "./servers.ts";

/** A migration may build an index over a large table. */
const MIGRATION_TIMEOUT_MS = 3_600_000;

export const migrateCommand: Command = {
  name: "migrate",
  summary: "brings Postgres, ClickHouse and JetStream to this version",
  options: {},
  examples: ["migrate"],
  notes: "Safe to run twice.",
  run: async (_given, { servers, dataDir, natsPrefix, natsReplicas }) => {
    const urls = findServers(["postgresUrl", "natsUrl", "clickhouseUrl"], servers, dataDir);
    const lines = await migrateStores(urls, { prefix: natsPrefix, replicas: natsReplicas });
    return lines.join("\n");
  },
};

/** Brings the three stores to the version of this release. Safe to run twice. Returns one line for each store. */
async function migrateStores(
  { postgresUrl, natsUrl, clickhouseUrl }: ServerUrls,
  nats: { readonly prefix: string; readonly replicas: number },
): Promise<string[]> {
  return [
    await migration("Postgres", async () => appliedText(await migratePostgresAt(postgresUrl))),
    await migration("ClickHouse", async () => appliedText(await migrateClickhouse(clickhouseUrl))),
    await migration("JetStream", async () => {
      await ensureStreamsAt(natsUrl, nats);
      return "streams are as this release needs them";
    }),
    await migration("Stores", async () => await joinStoresAt(postgresUrl, clickhouseUrl)),
  ];
}

async function migratePostgresAt(url: string): Promise<string[]> {
  const pool = openPool({
    url,
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

/** A mismatch does not stop the migration: the processes also report it, and after a restore `tracker restored` runs next. */
async function joinStoresAt(postgresUrl: string, clickhouseUrl: string): Promise<string> {
  const pool = openPool({
    url: postgresUrl,
    applicationName: "tracker migrate",
    connectionsMax: 1,
  });
  const clickhouse = openClickhouse({ url: clickhouseUrl, applicationName: "tracker migrate" });
  try {
    return (await joinStores(pool, clickhouse))
      ? "Postgres and ClickHouse belong together"
      : "Postgres and ClickHouse belong to different installations, or one was restored: run `tracker restored`";
  } finally {
    await clickhouse.close();
    await pool.end();
  }
}

async function ensureStreamsAt(
  url: string,
  { prefix, replicas }: { readonly prefix: string; readonly replicas: number },
): Promise<void> {
  const nats = await connectNats({ url, name: "tracker migrate", prefix });
  try {
    await ensureStreams(nats, replicas);
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

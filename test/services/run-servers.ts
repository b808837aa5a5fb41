import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { findPgBouncer, PgBouncer } from "../system/pg-bouncer.ts";
import { MEMORY, serversFolder } from "../tiers/run-folder.ts";
import { freshDatabase } from "./fresh-database.ts";
import { type ServerUrls, startServers } from "./servers.ts";

/** The servers that all tests of a run share, each with databases of its own. */
export type RunServers = {
  readonly urls: ServerUrls;
  /** The URL of the PgBouncer in front of Postgres with TEST_PGBOUNCER=1, else of Postgres itself. */
  readonly poolerUrl: string;
  /** A migrated database, to be copied: the migrations take longer than most tests. */
  readonly template: string;
};

const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

/**
 * Settings of a Postgres whose data nobody keeps, and whose databases live for seconds: a worker of autovacuum would visit one of two
 * hundred every 0.3 s. A test of durability or of a damaged store starts a server of its own, as production
 * has it.
 */
const POSTGRES_SETTINGS = `max_connections = 200
shared_buffers = 128MB
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
wal_level = minimal
max_wal_senders = 0
password_encryption = scram-sha-256
timezone = UTC
log_timezone = UTC
log_line_prefix = '%m [%p] %a '
logging_collector = off
`;

type Shared = { users: number; readonly opening: Promise<Running> };
type Running = { readonly servers: RunServers; readonly stop: () => Promise<void> };

declare global {
  /** Vitest loads a global setup once for each project, so the servers of several projects meet here. */
  var trackerRunServers: Shared | undefined;
}

/** Starts the servers for the first project that asks. `stop` of the last project ends them. */
export async function useRunServers(): Promise<Running> {
  const shared = (globalThis.trackerRunServers ??= { users: 0, opening: start() });
  shared.users += 1;
  const { servers, stop } = await shared.opening;
  return {
    servers,
    stop: async () => {
      shared.users -= 1;
      if (shared.users > 0) return;
      globalThis.trackerRunServers = undefined;
      await stop();
    },
  };
}

async function start(): Promise<Running> {
  const folder = serversFolder(fastFolder());
  mkdirSync(folder, { recursive: true });
  const postgresConfig = join(folder, "postgresql.conf");
  writeFileSync(postgresConfig, POSTGRES_SETTINGS);
  const started = await startServers({
    need: ["postgres", "nats", "clickhouse"],
    isMigrated: true,
    folder,
    postgresConfig,
  });
  const { urls } = started;
  const own = urls.template === undefined ? await migratedDatabase(urls) : undefined;
  const pooler = await startPooler(urls.postgres);
  return {
    servers: {
      urls,
      poolerUrl: pooler?.url ?? urls.postgres,
      template: own?.name ?? urls.template ?? "",
    },
    stop: async () => {
      await pooler?.[Symbol.asyncDispose]();
      await own?.drop();
      await started.stop();
    },
  };
}

/** Memory, if there is room: with 200 databases on a disk the tests wait for it most of the time. */
function fastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES_MIN ? MEMORY : tmpdir();
  } catch {
    // Not every system has it.
    return tmpdir();
  }
}

/**
 * With TEST_PGBOUNCER=1 every store of the tests is reached through PgBouncer in transaction mode, with the limits of
 * deploy/servers/postgres/pgbouncer.ini in force. Only making and dropping databases goes to the server itself.
 */
async function startPooler(postgresUrl: string): Promise<PgBouncer | undefined> {
  if (process.env["TEST_PGBOUNCER"] !== "1") return undefined;
  const found = await findPgBouncer();
  if ("fault" in found) throw new Error(found.fault);
  return await PgBouncer.open(found.program, postgresUrl);
}

async function migratedDatabase(
  servers: ServerUrls,
): Promise<{ readonly name: string; drop(): Promise<void> }> {
  const database = await freshDatabase({ label: "template", servers });
  const pool = openPool({ url: database.postgresUrl, applicationName: "test", connectionsMax: 2 });
  try {
    await Promise.all([migratePostgres(pool), migrateClickhouse({ url: database.clickhouseUrl })]);
  } finally {
    await pool.end();
  }
  return database;
}

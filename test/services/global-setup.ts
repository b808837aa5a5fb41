import type { TestProject } from "vitest/node";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { findPgBouncer, PgBouncer } from "../system/pg-bouncer.ts";
import { type FreshDatabase, freshDatabase } from "./fresh-database.ts";
import { type ServerUrls, startServers } from "./servers.ts";

declare module "vitest" {
  /** The values that integration tests `inject`. All tests share these servers, so each makes databases of its own: see stores.ts. */
  interface ProvidedContext {
    postgresUrl: string;
    /** Of the PgBouncer in front of it with TEST_PGBOUNCER=1, else the same. */
    poolerUrl: string;
    natsUrl: string;
    clickhouseUrl: string;
    /** A migrated database, to be copied: the migrations take longer than most tests. */
    template: string;
  }
}

/** Starts the three servers once for all files of a run. Returns a function that stops them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = await startServers({
    need: ["postgres", "nats", "clickhouse"],
    isMigrated: true,
  });
  const own =
    servers.urls.template === undefined ? await migratedDatabase(servers.urls) : undefined;
  const pooler = await startPooler(servers.urls.postgres);
  project.provide("postgresUrl", servers.urls.postgres);
  project.provide("poolerUrl", pooler?.url ?? servers.urls.postgres);
  project.provide("natsUrl", servers.urls.nats);
  project.provide("clickhouseUrl", servers.urls.clickhouse);
  project.provide("template", own?.name ?? servers.urls.template ?? "");
  return async () => {
    await pooler?.[Symbol.asyncDispose]();
    await own?.drop();
    await servers.stop();
  };
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

async function migratedDatabase(servers: ServerUrls): Promise<FreshDatabase> {
  const database = await freshDatabase({ label: "template", servers });
  const pool = openPool({ url: database.postgresUrl, applicationName: "test", connectionsMax: 2 });
  try {
    await Promise.all([migratePostgres(pool), migrateClickhouse({ url: database.clickhouseUrl })]);
  } finally {
    await pool.end();
  }
  return database;
}

import assert from "node:assert";
import { randomBytes } from "node:crypto";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { openPool } from "../../schemas/postgres/connect.ts";
import type { ServerUrls } from "./servers.ts";

/** A new database in Postgres and one in ClickHouse, with the same name. */
export interface FreshDatabase {
  /** Contains `test`. Also the prefix of NATS subjects and streams. */
  readonly name: string;
  /** Through the pooler, if there is one. */
  readonly postgresUrl: string;
  /** The URL of the server itself. */
  readonly postgresDirectUrl: string;
  readonly clickhouseUrl: string;
  drop(): Promise<void>;
}

export interface FreshDatabaseOptions {
  /** Lower-case letters, digits and underscores. Part of the name, so that a leftover database shows its test. */
  readonly label: string;
  /** Servers to make them on. */
  readonly servers: Omit<ServerUrls, "nats">;
  /** A PgBouncer in front of Postgres. */
  readonly pooler?: string | undefined;
  /** Name of another fresh database whose tables and rows are copied. It must have no connections. By default both are empty. */
  readonly template?: string | undefined;
}

/** Makes both databases. `drop` closes connections that are still open. */
export async function freshDatabase({
  label,
  servers,
  pooler = servers.postgres,
  template,
}: FreshDatabaseOptions): Promise<FreshDatabase> {
  const name = `test_${label}_${randomBytes(5).toString("hex")}`;
  assert(/^test_[a-z0-9_]{1,50}$/.test(name), `not a name for a database: ${name}`);
  await Promise.all([
    createPostgresDatabase(servers.postgres, name, template),
    createClickhouseDatabase(servers.clickhouse, name, template),
  ]);
  return {
    name,
    postgresUrl: withDatabase(pooler, name),
    postgresDirectUrl: withDatabase(servers.postgres, name),
    clickhouseUrl: withDatabase(servers.clickhouse, name),
    async drop() {
      await dropPostgresDatabase(servers.postgres, name);
      await onClickhouse(servers.clickhouse, `DROP DATABASE IF EXISTS ${name}`);
    },
  };
}

/** A database on the server of `serverUrl`, empty if no template is named. */
export async function createPostgresDatabase(
  serverUrl: string,
  name: string,
  template = "template1",
): Promise<void> {
  // A connection to the template would be in the way of its next copy.
  await onPostgres(
    withDatabase(serverUrl, "postgres"),
    // Copies files. The default writes each page into the WAL, which takes four times as long.
    `create database ${name} template ${template} strategy file_copy`,
  );
}

/** A database on the server of `serverUrl`, empty if no template is named. */
export async function createClickhouseDatabase(
  serverUrl: string,
  name: string,
  template?: string,
): Promise<void> {
  const client = openClickhouse({ url: serverUrl, applicationName: "test" });
  try {
    await client.command({ query: `create database ${name}` });
    if (template === undefined) return;
    const answer = await client.query({
      query:
        "select name, total_rows > 0 as has_rows from system.tables where database = {template: String}",
      query_params: { template },
      format: "JSONEachRow",
    });
    const copy = async (table: { name: string; has_rows: number }): Promise<void> => {
      const [from, to] = [`${template}.${table.name}`, `${name}.${table.name}`];
      await client.command({ query: `create table ${to} as ${from}` });
      if (table.has_rows === 1)
        await client.command({ query: `insert into ${to} select * from ${from}` });
    };
    await Promise.all((await answer.json<Parameters<typeof copy>[0]>()).map(copy));
  } finally {
    await client.close();
  }
}

/**
 * Drops the database after closing the tests' open connections. `with (force)` would fail while an autovacuum worker runs, which
 * only a superuser may end; a plain drop makes it stop.
 */
export async function dropPostgresDatabase(serverUrl: string, name: string): Promise<void> {
  await onPostgres(serverUrl, ...closing(name), `drop database ${name}`);
}

/** The URL of another database on the same server. */
function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function onPostgres(url: string, ...statements: readonly string[]): Promise<void> {
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  try {
    for (const text of statements) await pool.query({ text });
  } finally {
    await pool.end();
  }
}

async function onClickhouse(url: string, query: string): Promise<void> {
  const client = openClickhouse({ url, applicationName: "test" });
  try {
    await client.command({ query });
  } finally {
    await client.close();
  }
}

/** Copies the database as a backup and returns its URL. Connections to the original are closed and reconnect. */
export async function backUpPostgres(url: string): Promise<string> {
  const name = databaseOf(url);
  const backup = `${name}_backup_${randomBytes(3).toString("hex")}`;
  await onPostgres(
    withDatabase(url, "postgres"),
    ...closing(name),
    `create database ${backup} template ${name} strategy file_copy`,
    `alter database ${name} allow_connections true`,
  );
  return withDatabase(url, backup);
}

/** Replaces the database with the backup under its name, as a restore does: with the versions and sequences of its time. */
export async function restorePostgres(url: string, backupUrl: string): Promise<void> {
  const name = databaseOf(url);
  await onPostgres(
    withDatabase(url, "postgres"),
    ...closing(name),
    `drop database ${name}`,
    ...closing(databaseOf(backupUrl)),
    `create database ${name} template ${databaseOf(backupUrl)} strategy file_copy`,
    `alter database ${databaseOf(backupUrl)} allow_connections true`,
  );
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

function closing(name: string): string[] {
  return [
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and usename = current_user`,
  ];
}

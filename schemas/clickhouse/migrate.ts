import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { projectFile } from "../host/project-root.ts";
import { type ClickhouseServer, clickhouseDatabase, openClickhouse } from "./connect.ts";

const MIGRATIONS = projectFile("schemas", "clickhouse", "migrations");
const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;

/**
 * Creates the database and applies missing migrations; returns their names. ClickHouse has no transactions, so every statement of a
 * migration is idempotent, and a migration counts as applied only after its last statement.
 */
export async function migrateClickhouse(given: ClickhouseServer): Promise<string[]> {
  const database = clickhouseDatabase(given.url);
  const server = new URL(given.url);
  server.pathname = "/";
  const bootstrap = openClickhouse({
    ...given,
    url: server.toString(),
    applicationName: "tracker migrate",
  });
  try {
    await bootstrap.command({
      query: "create database if not exists {database: Identifier}",
      query_params: { database },
    });
  } finally {
    await bootstrap.close();
  }
  const client = openClickhouse({
    ...given,
    applicationName: "tracker migrate",
    requestTimeoutMs: 600_000,
  });
  try {
    await client.command({
      query: `create table if not exists schema_migration (number UInt32, name String, applied_at DateTime default now())
              engine = ReplacingMergeTree order by number`,
    });
    const current = await currentNumber(client);
    const names = (await readdir(MIGRATIONS)).filter((name) => FILE.test(name)).sort();
    if (current > names.length) {
      throw new Error(
        `ClickHouse has migration ${current}, this release knows ${names.length}: start the newer release, or restore a backup`,
      );
    }
    const missing = names.slice(current);
    for (const name of missing) {
      const sql = await readFile(join(MIGRATIONS, name), "utf8");
      for (const { query, setting } of statements(sql)) {
        if (setting === undefined || (await hasSetting(client, setting)))
          await client.command({ query });
      }
      await client.insert({
        table: "schema_migration",
        values: [{ number: Number(name.slice(0, 4)), name }],
        format: "JSONEachRow",
      });
    }
    return missing;
  } finally {
    await client.close();
  }
}

async function currentNumber(client: ReturnType<typeof openClickhouse>): Promise<number> {
  const answer = await client.query({
    query: "select max(number) as number from schema_migration",
    format: "JSONEachRow",
  });
  const rows = await answer.json<{ number: number }>();
  return rows[0]?.number ?? 0;
}

async function hasSetting(
  client: ReturnType<typeof openClickhouse>,
  setting: string,
): Promise<boolean> {
  const answer = await client.query({
    query: "select name from system.merge_tree_settings where name = {setting: String}",
    query_params: { setting },
    format: "JSONEachRow",
  });
  return (await answer.json()).length > 0;
}

type MigrationStatement = {
  readonly query: string;
  /** A setting of MergeTree that this statement uses. On servers that do not know it the statement is left out. */
  readonly setting: string | undefined;
};

const REQUIRED_SETTING = /^-- requires setting: (\w+)$/m;

/** Statements end with a semicolon at the end of a line. */
function statements(sql: string): MigrationStatement[] {
  return sql
    .split(/;\s*$/m)
    .map((text) => ({
      query: text.replace(/^\s*--.*$/gm, "").trim(),
      setting: REQUIRED_SETTING.exec(text)?.[1],
    }))
    .filter(({ query }) => query !== "");
}

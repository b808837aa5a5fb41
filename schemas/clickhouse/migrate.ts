import { type AppliedMigration, assertNotTooNew, assertUsable } from "../versions/judge-schema.ts";
import { type MigrationFile, migrationFiles, statementsOf } from "../versions/migration-files.ts";
import {
  type Clickhouse,
  type ClickhouseServer,
  clickhouseDatabase,
  openClickhouse,
} from "./connect.ts";
import { clickhouseCode } from "./errors.ts";
import { joinProjections } from "./join-projections.ts";

const APPLICATION_NAME = "tracker migrate";
/** A migration may rewrite a column. */
const STATEMENT_MS_MAX = 600_000;
const UNKNOWN_TABLE = "60";
const UNKNOWN_COLUMN = "47";

export type MigrateOptions = {
  /**
   * With it, files that remove something are applied too. It runs `work` once no process runs that needs what `file` removes, and
   * none can start until `work` is done.
   */
  readonly withoutOlder?: (file: MigrationFile, work: () => Promise<void>) => Promise<void>;
  readonly files?: readonly MigrationFile[];
};

export type Migrated = {
  /** Names of the files that were applied. */
  readonly applied: readonly string[];
  /** Names of the files that remove something and were left out. */
  readonly left: readonly string[];
};

/**
 * Creates the database and applies missing migrations in order. ClickHouse has no transactions, so every statement of a migration is
 * idempotent, and a migration counts as applied only after its last statement. Files that remove something are left out, except with
 * `withoutOlder` or in an empty database.
 *
 * @throws {NewerSchemaError} when the schema no longer supports this release.
 */
export async function migrateClickhouse(
  given: ClickhouseServer,
  { withoutOlder, files = migrationFiles("clickhouse") }: MigrateOptions = {},
): Promise<Migrated> {
  await createDatabase(given);
  const client = openClickhouse({
    ...given,
    applicationName: APPLICATION_NAME,
    requestTimeoutMs: STATEMENT_MS_MAX,
  });
  try {
    await prepare(client);
    const before = await notedMigrations(client);
    assertNotTooNew("clickhouse", files, before);
    const present = new Set(before.filter((one) => one.isApplied).map(({ number }) => number));
    const applied: string[] = [];
    const left: string[] = [];
    for (const file of files.filter(({ number }) => !present.has(number))) {
      if (file.kind === "contract" && before.length > 0) {
        if (withoutOlder === undefined) {
          left.push(file.name);
          continue;
        }
        // From here on no older process starts, also if this one dies before the statements are done.
        await withoutOlder(file, async () => {
          await note(client, file, false);
        });
      }
      await applyStatements(client, file);
      await note(client, file, true);
      applied.push(file.name);
    }
    return { applied, left };
  } finally {
    await client.close();
  }
}

/**
 * Refuses a schema that this release cannot use. @throws {NewerSchemaError} or an Error that says to run the migration.
 */
export async function assertClickhouseMigrated(client: Clickhouse): Promise<void> {
  const noted = await notedMigrations(client);
  const files = migrationFiles("clickhouse");
  assertNotTooNew("clickhouse", files, noted);
  assertUsable(
    "clickhouse",
    files,
    noted.filter(({ isApplied }) => isApplied),
  );
}

async function createDatabase(given: ClickhouseServer): Promise<void> {
  const server = new URL(given.url);
  server.pathname = "/";
  const client = openClickhouse({
    ...given,
    url: server.toString(),
    applicationName: APPLICATION_NAME,
  });
  try {
    await client.command({
      query: "create database if not exists {database: Identifier}",
      query_params: { database: clickhouseDatabase(given.url) },
    });
  } finally {
    await client.close();
  }
}

async function prepare(client: Clickhouse): Promise<void> {
  await client.command({
    query: `create table if not exists schema_migration (number UInt32, name String, applied_at DateTime default now())
            engine = ReplacingMergeTree order by number`,
  });
  // Releases before these columns only read the numbers, so they need no migration.
  await client.command({
    query: `alter table schema_migration
              add column if not exists oldest_reader UInt32 default number,
              add column if not exists is_applied Bool default true`,
  });
}

async function applyStatements(client: Clickhouse, { sql }: MigrationFile): Promise<void> {
  const queries: string[] = [];
  for (const text of statementsOf(sql)) {
    const setting = REQUIRED_SETTING.exec(text)?.[1];
    if (setting === undefined || (await hasSetting(client, setting)))
      queries.push(text.replace(/^\s*--.*$/gm, "").trim());
  }
  for (const query of joinProjections(queries)) await client.command({ query });
}

async function note(
  client: Clickhouse,
  { number, name, oldestReader }: MigrationFile,
  isApplied: boolean,
): Promise<void> {
  await client.insert({
    table: "schema_migration",
    values: [{ number, name, oldest_reader: oldestReader, is_applied: isApplied }],
    format: "JSONEachRow",
  });
}

type NotedMigration = AppliedMigration & {
  /** False while a migration that removes something has only been announced. */
  readonly isApplied: boolean;
};

async function notedMigrations(client: Clickhouse): Promise<NotedMigration[]> {
  try {
    const answer = await client.query({
      query: `select number, max(oldest_reader) as "oldestReader", max(is_applied) as "isApplied"
              from schema_migration group by number order by number`,
      format: "JSONEachRow",
    });
    return await answer.json<NotedMigration>();
  } catch (error) {
    const code = clickhouseCode(error);
    // A release before headers has migrated it, or none has.
    if (code === UNKNOWN_TABLE || code === UNKNOWN_COLUMN) return [];
    throw error;
  }
}

async function hasSetting(client: Clickhouse, setting: string): Promise<boolean> {
  const answer = await client.query({
    query: "select name from system.merge_tree_settings where name = {setting: String}",
    query_params: { setting },
    format: "JSONEachRow",
  });
  return (await answer.json()).length > 0;
}

/** A setting of MergeTree that the statement uses. On servers that do not know it the statement is left out. */
const REQUIRED_SETTING = /^-- requires setting: (\w+)$/m;

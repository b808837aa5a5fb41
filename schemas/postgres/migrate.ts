import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { projectFile } from "../host/project-root.ts";
import type { Pool, Queryable } from "./connect.ts";
import { postgresCode, SQLSTATE } from "./errors.ts";
import { inTransaction } from "./transaction.ts";

/** The schema is newer than this release, so the process must not run. It exits with code 3. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError";
}

const MIGRATIONS = projectFile("schemas", "postgres", "migrations");
const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** One migration at a time in a database; any number that nothing else uses. */
const MIGRATION_LOCK = 7_265_000;

/** Applies missing migrations, each in its own transaction; returns their names. Safe to run twice and concurrently. */
export async function migratePostgres(pool: Pool): Promise<string[]> {
  const files = await migrationFiles();
  await pool.query({
    text: `create table if not exists schema_migration (
             number integer primary key, name text not null, applied_at timestamptz not null default now())`,
  });
  const applied: string[] = [];
  for (const file of files) {
    const sql = await readFile(join(MIGRATIONS, file.name), "utf8");
    const isNew = await inTransaction(pool, async (db) => {
      await db.query({ text: "select pg_advisory_xact_lock($1)", values: [MIGRATION_LOCK] });
      await assertNotNewer(db, files.length);
      const { rowCount } = await db.query({
        text: "insert into schema_migration (number, name) values ($1, $2) on conflict (number) do nothing",
        values: [file.number, file.name],
      });
      if (rowCount === 0) return false;
      await db.query({ text: sql });
      return true;
    });
    if (isNew) applied.push(file.name);
  }
  return applied;
}

/**
 * Refuses to work on a schema that is older or newer than this release. @throws {NewerSchemaError} or an Error that says to
 * run the migration.
 */
export async function assertPostgresMigrated(pool: Pool): Promise<void> {
  const files = await migrationFiles();
  const current = await assertNotNewer(pool, files.length);
  if (current < files.length) {
    throw new Error(
      `Postgres is at migration ${current} of ${files.length}: run \`npm run tracker -- migrate\` first`,
    );
  }
}

async function assertNotNewer(db: Queryable, newest: number): Promise<number> {
  const current = await currentNumber(db);
  if (current > newest) {
    throw new NewerSchemaError(
      `Postgres has migration ${current}, this release knows ${newest}: start the newer release, or restore a backup`,
    );
  }
  return current;
}

async function currentNumber(db: Queryable): Promise<number> {
  try {
    const { rows } = await db.query<{ number: number | null }>({
      text: "select max(number) as number from schema_migration",
    });
    return rows[0]?.number ?? 0;
  } catch (error) {
    if (postgresCode(error) === SQLSTATE.undefinedTable) return 0;
    throw error;
  }
}

async function migrationFiles(): Promise<{ number: number; name: string }[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => FILE.test(name)).sort();
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name }));
}

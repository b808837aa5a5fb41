import { setTimeout as sleep } from "node:timers/promises";
import {
  type AppliedMigration,
  assertNotTooNew,
  assertSameBeginning,
  assertUsable,
} from "../versions/judge-schema.ts";
import { type MigrationFile, migrationFiles, statementsOf } from "../versions/migration-files.ts";
import type { Pool, Queryable } from "./connect.ts";
import { postgresCode, SQLSTATE } from "./errors.ts";
import { withoutOlderProcesses } from "./older-processes.ts";
import { inTransaction } from "./transaction.ts";

/** One migration at a time in a database; any number that nothing else uses. */
const MIGRATION_LOCK = 7_265_000;
/** Each try waits for 2 s (the lock_timeout of a connection), so that statements of processes queue behind it no longer than that. */
const LOCK_TRIES = 60;
const LOCK_PAUSE_MS = 1_000;

export type MigrateOptions = {
  /** Also applies what removes something. */
  readonly isContract?: boolean;
  /** Gets a line whenever something takes longer. */
  readonly report?: (line: string) => void;
  /**
   * For files with `-- no transaction`, whose statements wait for other transactions without blocking them. Needs a connection beside the
   * pool's. By default `pool` itself.
   */
  readonly patient?: Queryable;
  readonly files?: readonly MigrationFile[];
  readonly lockTries?: number;
  readonly lockPauseMs?: number;
};

export type Migrated = {
  /** Names of the files that were applied. */
  readonly applied: readonly string[];
  /** Names of the files that remove something and were left out. */
  readonly left: readonly string[];
};

/**
 * Applies missing migrations in order, each in its own transaction. Safe to run twice and concurrently. Files that remove something are
 * left out, except with `isContract` or in an empty database.
 *
 * @throws {OtherSchemaError} when the schema is not for this release; {OlderProcessesError} with `isContract`.
 */
export async function migratePostgres(pool: Pool, options: MigrateOptions = {}): Promise<Migrated> {
  const files = options.files ?? migrationFiles("postgres");
  assertSameBeginning("postgres", files, await firstMigration(pool));
  await repeatWhileLocked("its list of migrations", options, () => prepare(pool));
  const before = await appliedMigrations(pool);
  const isEmpty = before.length === 0;
  const present = new Set(before.map(({ number }) => number));
  const applied: string[] = [];
  const left: string[] = [];
  for (const file of files) {
    if (file.kind === "contract" && options.isContract !== true && !isEmpty) {
      if (!present.has(file.number)) left.push(file.name);
      continue;
    }
    const apply = async () =>
      file.isInTransaction
        ? await applyAtOnce(pool, file, files)
        : await applyInSteps(pool, file, { files, patient: options.patient ?? pool });
    if (await repeatWhileLocked(file.name, options, apply)) applied.push(file.name);
  }
  return { applied, left };
}

/** Refuses the data of a commit before the first release, which must stay as it is. @throws {OtherSchemaError} */
export async function assertPostgresOwn(db: Queryable): Promise<void> {
  assertSameBeginning("postgres", migrationFiles("postgres"), await firstMigration(db));
}

/** Refuses a schema that this release cannot use. @throws {OtherSchemaError} or an Error that says to run the migration. */
export async function assertPostgresMigrated(db: Queryable): Promise<void> {
  await assertPostgresOwn(db);
  assertUsable("postgres", migrationFiles("postgres"), await appliedMigrations(db));
}

async function prepare(pool: Pool): Promise<void> {
  await inTransaction(pool, async (db) => {
    await takeTurn(db);
    await db.query({
      text: `create table if not exists schema_migration (
               number integer primary key, name text not null, applied_at timestamptz not null default now(),
               oldest_reader integer)`,
    });
  });
}

/** Returns false if it is applied already. */
async function applyAtOnce(
  pool: Pool,
  file: MigrationFile,
  files: readonly MigrationFile[],
): Promise<boolean> {
  return await inTransaction(pool, async (db) => {
    await takeTurn(db);
    assertNotTooNew("postgres", files, await appliedMigrations(db));
    if (!(await note(db, file))) return false;
    if (file.kind === "expand") await db.query({ text: file.sql });
    else {
      await withoutOlderProcesses(db, { store: "postgres", file }, async () => {
        await db.query({ text: file.sql });
      });
    }
    return true;
  });
}

/**
 * The transaction that keeps other migrations out is idle meanwhile and has no snapshot, so `create index concurrently` does not wait for
 * it. A crash repeats all statements.
 */
async function applyInSteps(
  pool: Pool,
  file: MigrationFile,
  { files, patient }: { readonly files: readonly MigrationFile[]; readonly patient: Queryable },
): Promise<boolean> {
  return await inTransaction(pool, async (db) => {
    await db.query({ text: "set local idle_in_transaction_session_timeout = 0" });
    await takeTurn(db);
    const applied = await appliedMigrations(db);
    assertNotTooNew("postgres", files, applied);
    if (applied.some(({ number }) => number === file.number)) return false;
    for (const text of statementsOf(file.sql)) await patient.query({ text });
    return await note(db, file);
  });
}

async function takeTurn(db: Queryable): Promise<void> {
  await db.query({ text: "select pg_advisory_xact_lock($1)", values: [MIGRATION_LOCK] });
}

async function note(
  db: Queryable,
  { number, name, oldestReader }: MigrationFile,
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: "insert into schema_migration (number, name, oldest_reader) values ($1, $2, $3) on conflict (number) do nothing",
    values: [number, name, oldestReader],
  });
  return rowCount === 1;
}

/** The name of the migration that made the schema; undefined in an empty database. */
async function firstMigration(db: Queryable): Promise<string | undefined> {
  try {
    const { rows } = await db.query<{ name: string }>({
      name: "first-migration",
      text: "select name from schema_migration where number = 1",
    });
    return rows[0]?.name;
  } catch (error) {
    if (postgresCode(error) === SQLSTATE.undefinedTable) return undefined;
    throw error;
  }
}

async function appliedMigrations(db: Queryable): Promise<AppliedMigration[]> {
  try {
    const { rows } = await db.query<AppliedMigration>({
      text: `select number, coalesce(oldest_reader, number) as "oldestReader" from schema_migration order by number`,
    });
    return rows;
  } catch (error) {
    if (postgresCode(error) === SQLSTATE.undefinedTable) return [];
    throw error;
  }
}

async function repeatWhileLocked<T>(
  what: string,
  { report, lockTries = LOCK_TRIES, lockPauseMs = LOCK_PAUSE_MS }: MigrateOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (postgresCode(error) !== SQLSTATE.lockNotAvailable) throw error;
      if (tries >= lockTries) {
        throw new Error(
          `${what} needs a lock that another transaction still held after ${tries} tries: end that transaction ` +
            "(pg_stat_activity shows it by its xact_start) or another migration, then repeat",
          { cause: error },
        );
      }
      report?.(
        `Postgres: ${what} waits for a lock of another transaction (try ${tries} of ${lockTries})`,
      );
      await sleep(lockPauseMs);
    }
  }
}

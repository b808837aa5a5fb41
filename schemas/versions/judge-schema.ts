import type { MigrationFile, Store } from "./migration-files.ts";

/** The schema only supports newer releases, so the process must not run. It exits with code 3. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError";
}

/** A migration that the store has. */
export type AppliedMigration = {
  readonly number: number;
  /** The oldest schema version whose code may run beside it. */
  readonly oldestReader: number;
};

const NAMES: Readonly<Record<Store, string>> = { postgres: "Postgres", clickhouse: "ClickHouse" };

/** @throws {NewerSchemaError} when the schema no longer supports this release. */
export function assertNotTooNew(
  store: Store,
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): void {
  const newest = files.at(-1)?.number ?? 0;
  const oldestReader = Math.max(0, ...applied.map((one) => one.oldestReader));
  if (oldestReader > newest) {
    throw new NewerSchemaError(
      `${NAMES[store]} serves releases from migration ${oldestReader} on, and this release knows ${newest}: ` +
        `start the newer release, or restore a backup`,
    );
  }
}

/**
 * Refuses a schema that this release cannot use. What only removes something may still be missing, and a newer schema is fine while it
 * supports this release.
 *
 * @throws {NewerSchemaError} or an Error that says to run the migration.
 */
export function assertUsable(
  store: Store,
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): void {
  assertNotTooNew(store, files, applied);
  const present = new Set(applied.map(({ number }) => number));
  const missing = files.filter(({ number, kind }) => kind === "expand" && !present.has(number));
  const [first] = missing;
  if (first !== undefined) {
    throw new Error(
      `${NAMES[store]} lacks ${first.name}${missing.length > 1 ? ` and ${missing.length - 1} more` : ""}, which this release needs: ` +
        "run `npm run tracker -- migrate` first",
    );
  }
}

import type { MigrationFile, Store } from "./migration-files.ts";

/** The schema is of another release, or of a commit before the first one, so the process must not run. It exits with code 3. */
export class OtherSchemaError extends Error {
  override readonly name = "OtherSchemaError";
}

/** A migration that the store has. */
export type AppliedMigration = {
  readonly number: number;
  /** The oldest schema version whose code may run beside it. */
  readonly oldestReader: number;
};

const NAMES: Readonly<Record<Store, string>> = { postgres: "Postgres", clickhouse: "ClickHouse" };

/** The last commit whose stores have other migrations. */
const LAST_COMMIT_BEFORE = "1ec7599a";
export const HOW_TO_KEEP =
  `Nothing was changed. Stay at ${LAST_COMMIT_BEFORE}, the last commit that reads it, or export there what this release can import: ` +
  "deploy/pages/upgrade.md";

/**
 * Refuses a store whose first migration is not ours: a commit before the first release has made it, and this release cannot change it into its
 * own schema. `first` is the name of that migration, undefined in an empty store.
 *
 * @throws {OtherSchemaError}
 */
export function assertSameBeginning(
  store: Store,
  files: readonly MigrationFile[],
  first: string | undefined,
): void {
  const expected = files[0]?.name;
  if (first === undefined || first === expected) return;
  throw new OtherSchemaError(
    `${NAMES[store]} has data of a commit before the first release: its schema began with ${first}, not with ${expected ?? "nothing"}. ${HOW_TO_KEEP}`,
  );
}

/** @throws {OtherSchemaError} when the schema no longer supports this release. */
export function assertNotTooNew(
  store: Store,
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): void {
  const newest = files.at(-1)?.number ?? 0;
  const oldestReader = Math.max(0, ...applied.map((one) => one.oldestReader));
  if (oldestReader > newest) {
    throw new OtherSchemaError(
      `${NAMES[store]} serves releases from migration ${oldestReader} on, and this release knows ${newest}: ` +
        `start the newer release, or restore a backup`,
    );
  }
}

/**
 * Refuses a schema that this release cannot use. What only removes something may still be missing, and a newer schema is fine while it
 * supports this release.
 *
 * @throws {OtherSchemaError} or an Error that says to run the migration.
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

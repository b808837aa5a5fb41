import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectFile } from "../host/project-root.ts";

export type Store = "postgres" | "clickhouse";
export const STORES: readonly Store[] = ["postgres", "clickhouse"];

/** A numbered SQL file that changes a store's schema. Its number is the schema version that it leads to; the first file makes the whole schema. */
export type MigrationFile = {
  readonly number: number;
  readonly name: string;
  /** With the text of the files that it includes. */
  readonly sql: string;
  /**
   * `expand` only adds, so processes of the release before go on beside it. `contract` removes what an older release uses, so it may
   * only be applied when no process of such a release runs.
   */
  readonly kind: "expand" | "contract";
  /** The oldest schema version whose code may run once this file is applied. */
  readonly oldestReader: number;
  /** False for `-- no transaction`: each statement is applied by itself, and all of them again if one fails. */
  readonly isInTransaction: boolean;
};

export type KnownSchema = Readonly<Record<Store, number>>;

const FILE = /^(\d{4})_[a-z0-9_]+\.sql$/;
/** As in psql: puts another file in the place of the line. Its path begins at the file that names it. */
const INCLUDED = /^\\ir (\S+)$/gm;
const HEADER = /^-- (?:reads: (\d{4})|contract: needs (\d{4}))\n(-- no transaction\n)?/;

const read = new Map<Store, readonly MigrationFile[]>();

/** The migrations of this release in order. Read once: an upgrade may replace the files below a process that runs. */
export function migrationFiles(store: Store): readonly MigrationFile[] {
  const files = read.get(store) ?? readMigrations(store);
  read.set(store, files);
  return files;
}

/** What the file says about itself in its first lines. @throws if it has no header, or one that cannot be kept. */
export function readMigration(name: string, sql: string): MigrationFile {
  const number = Number(FILE.exec(name)?.[1]);
  const header = HEADER.exec(sql);
  if (header === null) {
    throw new Error(
      `${name}: the first line must be "-- reads: NNNN" or "-- contract: needs NNNN"`,
    );
  }
  const [, reads, needs, noTransaction] = header;
  const kind = needs === undefined ? "expand" : "contract";
  const isInTransaction = noTransaction === undefined;
  if (kind === "contract" && !isInTransaction) {
    throw new Error(
      `${name}: what removes something is applied in a transaction, so it cannot have "-- no transaction"`,
    );
  }
  const oldestReader = Number(reads ?? needs);
  return { number, name, sql, kind, oldestReader, isInTransaction };
}

/** Statements end with a semicolon at the end of a line. Comments stay with the statement that follows them. */
export function statementsOf(sql: string): string[] {
  const texts = sql.split(/;\s*$/m).map((text) => text.trim());
  return texts.filter((text) => text.replace(/^\s*--.*$/gm, "").trim() !== "");
}

/** The newest schema version of each store that this release knows. */
export function knownSchema(): KnownSchema {
  return {
    postgres: migrationFiles("postgres").at(-1)?.number ?? 0,
    clickhouse: migrationFiles("clickhouse").at(-1)?.number ?? 0,
  };
}

function readMigrations(store: Store): MigrationFile[] {
  const names = readdirSync(projectFile("schemas", store, "migrations")).filter((name) =>
    FILE.test(name),
  );
  return names
    .toSorted()
    .map((name) =>
      readMigration(name, readWithIncluded(projectFile("schemas", store, "migrations", name))),
    );
}

function readWithIncluded(file: string): string {
  return readFileSync(file, "utf8").replace(INCLUDED, (_line, path: string) =>
    readWithIncluded(join(dirname(file), path)).trimEnd(),
  );
}

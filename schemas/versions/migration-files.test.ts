import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectFile } from "../host/project-root.ts";
import {
  knownSchema,
  migrationFiles,
  readMigration,
  STORES,
  statementsOf,
} from "./migration-files.ts";

test.each([
  ["-- reads: 0040\nselect 1;", { kind: "expand", oldestReader: 40, isInTransaction: true }],
  ["-- contract: needs 0041\nselect 1;", { kind: "contract", oldestReader: 41 }],
  ["-- reads: 0040\n-- no transaction\nselect 1;", { kind: "expand", isInTransaction: false }],
])("the header of a migration is read: %j", (sql, expected) => {
  expect(readMigration("0042_terms.sql", sql)).toMatchObject({ number: 42, ...expected });
});

test.each([
  "-- A table.\nselect 1;",
  "-- Why.\n-- reads: 0040\n",
  "-- reads: 40\n",
  "-- reads: 0040 and later\n",
  "--reads: 0040\n",
])(
  "a migration says in its first line which releases it supports, or is refused: %j (P39)",
  (sql) => {
    expect(() => readMigration("0042_terms.sql", sql)).toThrow(
      '0042_terms.sql: the first line must be "-- reads: NNNN" or "-- contract: needs NNNN"',
    );
  },
);

test("a function has a file of its own, which the newest migration that changes it includes", () => {
  const folder = projectFile("schemas", "postgres", "functions");
  const files = readdirSync(folder);
  const texts = migrationFiles("postgres").map(({ sql }) => sql);
  expect(texts.filter((sql) => /^\\ir/m.test(sql))).toEqual([]);
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    const name = file.replace(/\.sql$/, "");
    expect(text.match(/^create (?:or replace )?function \w+/gm), file).toEqual([
      `create or replace function ${name}`,
    ]);
    const made = new RegExp(`^create or replace function ${name}\\b`, "m");
    expect(
      texts.findLast((sql) => made.test(sql)),
      file,
    ).toContain(text.trimEnd());
  }
  const defined = texts.join("\n").match(/^create (?:or replace )?function \w+/gm) ?? [];
  expect(new Set(defined).size).toBe(files.length);
});

test("what removes something is applied in a transaction", () => {
  const sql = "-- contract: needs 0041\n-- no transaction\ndrop index offer_list;";
  expect(() => readMigration("0042_terms.sql", sql)).toThrow(/^0042_terms\.sql: .*transaction/);
});

test("statements end with a semicolon at the end of a line, and comments alone are none", () => {
  const sql = "-- One.\nselect ';' as a;\n\nselect\n  2;\n-- The end.\n";
  expect(statementsOf(sql)).toEqual(["-- One.\nselect ';' as a", "select\n  2"]);
});

test.each(STORES)(
  "the schema version that this release knows of %s is its newest migration",
  (store) => {
    expect(migrationFiles(store).at(-1)?.number).toBe(knownSchema()[store]);
  },
);

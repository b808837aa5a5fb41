import { expect, test } from "vitest";
import {
  hasHeader,
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
  // Written before there were headers.
  ["-- A table.\nselect 1;", { kind: "expand", oldestReader: 42, isInTransaction: true }],
])("the header of a migration is read: %j", (sql, expected) => {
  expect(readMigration("0042_terms.sql", sql)).toMatchObject({ number: 42, ...expected });
});

test.each([
  "-- Why.\n-- reads: 0040\n",
  "-- reads: 40\n",
  "-- reads: 0040 and later\n",
  "--reads: 0040\n",
])("only the exact first line is a header: %j", (sql) => {
  expect(hasHeader(sql)).toBe(false);
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

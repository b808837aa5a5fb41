import { expect, test } from "vitest";
import {
  type AppliedMigration,
  assertSameBeginning,
  assertUsable,
  OtherSchemaError,
} from "./judge-schema.ts";
import { readMigration } from "./migration-files.ts";

/** A release that knows the first file, one that adds something, and one that removes something. */
const FILES = [
  readMigration("0001_offers.sql", "-- reads: 0001\nselect 1;"),
  readMigration("0002_terms.sql", "-- reads: 0001\nselect 2;"),
  readMigration("0003_old_terms.sql", "-- contract: needs 0002\nselect 3;"),
];

function usable(...applied: AppliedMigration[]): void {
  assertUsable("postgres", FILES, applied);
}

const FIRST = { number: 1, oldestReader: 1 };
const SECOND = { number: 2, oldestReader: 1 };

test.each([
  ["its own", [FIRST, SECOND, { number: 3, oldestReader: 2 }]],
  ["its own without what removes something", [FIRST, SECOND]],
  ["a newer one that supports it", [FIRST, SECOND, { number: 4, oldestReader: 3 }]],
] as const)("a release runs on this schema: %s (P39)", (_which, applied) => {
  expect(() => usable(...applied)).not.toThrow();
});

test("data of a commit before the first release is refused with how to keep it, an empty store is not", () => {
  expect(() => assertSameBeginning("postgres", FILES, undefined)).not.toThrow();
  expect(() => assertSameBeginning("postgres", FILES, "0001_offers.sql")).not.toThrow();
  const refused = () => assertSameBeginning("clickhouse", FILES, "0001_clicks.sql");
  expect(refused).toThrow(OtherSchemaError);
  expect(refused).toThrow(
    /^ClickHouse has data of a commit before the first release: .* began with 0001_clicks\.sql, .* Stay at 1ec7599a, .* export .*upgrade\.md/,
  );
});

test("a release refuses a schema that lacks what it needs, and names the command", () => {
  expect(() => usable(FIRST)).toThrow(
    "Postgres lacks 0002_terms.sql, which this release needs: run `npm run tracker -- migrate` first",
  );
  expect(() => usable()).toThrow("Postgres lacks 0001_offers.sql and 1 more");
  // What a newer release has added does not stand in for it.
  expect(() => usable(FIRST, { number: 4, oldestReader: 1 })).toThrow("lacks 0002_terms.sql");
});

test("a release refuses a schema that only supports newer ones (P39)", () => {
  expect(() => usable(FIRST, SECOND, { number: 5, oldestReader: 4 })).toThrow(OtherSchemaError);
  expect(() => usable(FIRST, SECOND, { number: 5, oldestReader: 4 })).toThrow(
    "Postgres serves releases from migration 4 on, and this release knows 3: start the newer release, or restore a backup",
  );
});

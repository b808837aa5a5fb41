import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import {
  type MigrationFile,
  migrationFiles,
  STORES,
  type Store,
  statementsOf,
} from "../../schemas/versions/migration-files.ts";
import { migrationFaults } from "../schema/destructive-statements.ts";
import { formFaults } from "../schema/message-forms.ts";
import { RELEASED_FILE, Released, releasedFaults, releaseOf } from "../schema/released.ts";

const MIGRATION = /^(\d{4})_[a-z0-9]+(_[a-z0-9]+)*\.sql$/;
const here = releaseOf("this checkout");
/** Before the first release there is no such file, and everything may change. */
const released = existsSync(RELEASED_FILE)
  ? Released.parse(JSON.parse(readFileSync(RELEASED_FILE, "utf8")))
  : here;

test.each(STORES)("the migrations of %s are numbered from 1 without a gap", (store) => {
  const files = readdirSync(projectFile("schemas", store, "migrations")).toSorted();
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !MIGRATION.test(file))).toEqual([]);
  const numbers = files.map((file) => Number(MIGRATION.exec(file)?.[1]));
  expect(numbers).toEqual(files.map((_, index) => index + 1));
});

test.each(STORES)(
  "each migration of %s supports releases that are no newer than itself (P39)",
  (store) => {
    const files = migrationFiles(store);
    expect(files.filter(({ number, oldestReader }) => oldestReader > number)).toEqual([]);
  },
);

test.each(STORES)(
  "no migration of %s removes or blocks anything without saying so (P39)",
  (store) => {
    expect(migrationFiles(store).flatMap((file) => faultsOf(store, file))).toEqual([]);
  },
);

test("migrations and messages that were released stay as they were: `npm run schema:release` (P39)", () => {
  expect(Object.keys(released.messages).length).toBeGreaterThan(15);
  expect(releasedFaults(released, here)).toEqual([]);
});

test("a changed or removed file of a release is found", () => {
  const { postgres, clickhouse } = here.migrations;
  const migrations = { postgres: { ...postgres, "0001_schema.sql": "0" }, clickhouse };
  expect(releasedFaults(here, { ...here, migrations })).toEqual([
    "postgres/migrations/0001_schema.sql, or a file that it includes, was changed after its release this checkout",
  ]);
});

const TEXT = { type: "string" } as const;
const REPORT = {
  type: "object",
  properties: { id: TEXT, kind: { type: "string", enum: ["a", "b"] } },
  required: ["id"],
} as const;
const { properties, required } = REPORT;

test.each([
  ["a field was removed", { ...REPORT, properties: { id: TEXT } }],
  [
    "a field changed its form",
    { ...REPORT, properties: { ...properties, id: { type: "integer" } } },
  ],
  ["a field must be there now", { ...REPORT, required: ["id", "kind"] }],
  ["a field may be missing now", { ...REPORT, required: [] }],
  [
    "a new field must be there",
    { ...REPORT, properties: { ...properties, more: TEXT }, required: [...required, "more"] },
  ],
  [
    "a value was removed",
    { ...REPORT, properties: { id: TEXT, kind: { type: "string", enum: ["a"] } } },
  ],
  ["other fields are refused", { ...REPORT, additionalProperties: false }],
  ["a variant was removed", { anyOf: [TEXT] }],
])("a message that an older release cannot read is found: %s", (_what, form) => {
  expect(formFaults({ anyOf: [REPORT, TEXT] }, { anyOf: [form, TEXT] })).not.toEqual([]);
  expect(formFaults(REPORT, form)).not.toEqual([]);
});

test.each([
  ["a new optional field", { ...REPORT, properties: { ...properties, more: TEXT } }],
  [
    "a new value",
    { ...REPORT, properties: { id: TEXT, kind: { type: "string", enum: ["a", "b", "c"] } } },
  ],
  ["nothing new", REPORT],
])("a message that an older release can read is no fault: %s", (_what, form) => {
  expect(formFaults({ anyOf: [REPORT, TEXT] }, { anyOf: [TEXT, form, TEXT] })).toEqual([]);
  expect(formFaults(REPORT, form)).toEqual([]);
});

test.each([
  "drop table offer;",
  "drop function f(integer);",
  "alter table offer drop column name;",
  "alter table offer\n  add column a text,\n  drop column b;",
  "alter table offer rename column a to b;",
  "alter view entries rename to old_entries;",
  "alter table offer alter column a set not null;",
  "alter table offer alter a type bigint;",
  "alter table offer add column a text not null;",
  "alter table offer add constraint c check (a > 0);",
  "create unique index offer_name on offer (name);",
  "alter table click modify column city String;",
  "exchange tables click and click_new;",
  "alter table offer add column b text; update offer set a = 'x';",
  "alter table offer add column b text; update affiliate set b = 'x';",
  "alter table offer add column b text; update offer set b = 'x', a = 'y';",
  "truncate offer;",
  "-- Why.\n  DROP\n  TABLE offer;",
])("a statement that takes something from an older release is found: %s", (sql) => {
  expect(migrationFaults(sql)).toMatchObject([{ what: "destructive" }]);
});

test.each([
  "create table a (b text not null, unique (b)); alter table a add constraint c check (b <> ''); create index d on a (b);",
  "alter table offer add column a text, add column b integer not null default 0;",
  "alter table offer add column a text; update offer o set a = w.name from workspace w where w.id = o.workspace_id;",
  "create function f() returns void language plpgsql as $$ begin drop table x; end $$;",
  "create index concurrently offer_name on offer (name);",
  "create index log_name on only log (name);",
  "drop index concurrently if exists offer_name;\ncreate index concurrently offer_name on offer (name);",
  "alter table click add projection if not exists p (select ts group by ts); alter table click drop projection if exists q;",
  "comment on table offer is 'drop table offer;';",
])("a statement that an older release does not mind is no fault: %s", (sql) => {
  expect(migrationFaults(sql)).toEqual([]);
});

test("an index that keeps writers out of an existing table is found", () => {
  expect(migrationFaults("create index offer_name on offer (name);")).toMatchObject([
    { what: "blocking" },
  ]);
});

/** Steps are applied again from the first one, and the server must not see a body of a function cut. */
function faultsOf(store: Store, { name, sql, kind, isInTransaction }: MigrationFile): string[] {
  const removing = kind === "contract" ? [] : migrationFaults(sql);
  const steps = isInTransaction || store === "clickhouse" ? [] : statementsOf(sql);
  return [
    ...removing.map(({ what, statement }) => `${name} is ${what}: ${statement}`),
    ...steps
      .filter((text) => text.includes("$$"))
      .map(() => `${name} has a body that would be cut`),
  ];
}

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow, productSources } from "./source-files.ts";
import { type SqlFault, sqlFaultsInScript, sqlFaultsInSource } from "./sql-faults.ts";

const WIRE = `import type { Queryable } from "../schemas/postgres/connect.ts";\n`;

test("no statement of the product selects a star, and values reach Postgres as parameters", () => {
  const sources = productSources();
  expect(sources.length).toBeGreaterThan(10);
  const faults = sources.flatMap((path) =>
    named(path, sqlFaultsInSource(path, readFileSync(projectFile(path), "utf8"))),
  );
  expect(faults).toEqual([]);
});

test("no statement keeps state in a Postgres session, so a pooler may stand in between (#19)", () => {
  const faults = productSources().flatMap((path) =>
    sqlFaultsInSource(path, readFileSync(projectFile(path), "utf8")),
  );
  expect(faults.filter(({ rule }) => rule === "session-state")).toEqual([]);
});

test.each([
  "const q = `select pg_try_advisory_lock($1)`;",
  `const q = "select pg_advisory_unlock_all()";`,
  `db.query({ text: "listen changes" });`,
  `db.query({ text: "set statement_timeout = 5000" });`,
  `db.query({ text: "set session lock_timeout to '1s'" });`,
  "const q = `create temp table due (id bigint)`;",
  `const q = "select set_config('a.b', 'c', false)";`,
  "const q = `declare rows cursor with hold for select id from offer`;",
])("session state is found in: %s", (source) => {
  expect(sqlFaultsInSource("api/catalog/offers/offers.ts", WIRE + source)).toMatchObject([
    { rule: "session-state" },
  ]);
});

test.each([
  "const q = `select pg_advisory_xact_lock($1)`;",
  `db.query({ text: "set local statement_timeout = 5000" });`,
  "const q = `update offer set id = 1`;",
  `const q = "select set_config('a.b', 'c', true)";`,
])("no session state is found in: %s", (source) => {
  expect(sqlFaultsInSource("api/catalog/offers/offers.ts", WIRE + source)).toEqual([]);
});

test("session state in a script is found, a setting of a function is not", () => {
  const script = "create function f() returns int language sql\n  set enable_sort = off as $$\n";
  expect(sqlFaultsInScript(script)).toEqual([]);
  expect(sqlFaultsInScript("select pg_advisory_lock(1);")).toMatchObject([
    { rule: "session-state", line: 1 },
  ]);
});

test("no SQL script selects a star or keeps state in a session", () => {
  const scripts = pathsBelow(PRODUCT_FOLDERS).filter((path) => path.endsWith(".sql"));
  expect(scripts.length).toBeGreaterThan(1);
  const faults = scripts.flatMap((path) =>
    named(path, sqlFaultsInScript(readFileSync(projectFile(path), "utf8"))),
  );
  expect(faults).toEqual([]);
});

test.each([
  ["select-star", `const q = "select * from offer";`],
  ["select-star", "const q = `select o.id, a.* from offer o`;"],
  ["select-star", "const q = `insert into offer (id) values ($1) returning *`;"],
  ["value-in-text", "const q = `select id from offer where id = ${id}`;"],
  ["value-in-text", `const q = "select id from offer where id = " + id;`],
  ["value-in-text", "const q = `select id from offer where name = '${escape(name)}'`;"],
  ["value-in-text", "db.query({ name: `n`, text: `update offer set a = ${input.a}` });"],
  ["value-in-text", "const q = `select id from offer where ${parts[role]}`;"],
  ["value-in-text", "db.query({ text: `${head} where id = ${id}` });"],
  ["value-in-text", "const q = `with due as (select ${columns} from offer) select id from due`;"],
] as const)("%s is found in: %s", (rule, source) => {
  expect(sqlFaultsInSource("api/catalog/offers/offers.ts", WIRE + source)).toMatchObject([
    { rule, line: 2 },
  ]);
});

test.each([
  "const q = `select count(*) from offer where id = $1`;",
  "const q = `select ${COLUMNS} from offer where id = $1`;",
  "const q = `select id from offer where ${SEEN_BY[role]}`;",
  "const q = `create database ${quoteIdentifier(name)}`;",
  "const q = `select 2 * 3 as six, a.id from offer a`;",
  "log.info(`update of ${offer.id} with ${count} events done`);",
  "throw new Error(`create the offer ${id} first`);",
])("no fault is found in: %s", (source) => {
  expect(sqlFaultsInSource("api/catalog/offers/offers.ts", WIRE + source)).toEqual([]);
});

test("a star in a script is found, one in a comment is not", () => {
  expect(sqlFaultsInScript("-- select * is not allowed\nselect *\nfrom offer;")).toMatchObject([
    { rule: "select-star", line: 2 },
  ]);
});

function named(path: string, faults: readonly SqlFault[]): string[] {
  return faults.map((fault) => `${path}:${fault.line} ${fault.rule}: ${fault.text}`);
}

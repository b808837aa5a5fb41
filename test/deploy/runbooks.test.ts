import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allCommands } from "../../api/cli/command-files.ts";
import { PROGRAM_ROLES } from "../../schemas/host/program-roles.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { SETTINGS } from "../../schemas/host/setting-definitions.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { migratePostgres } from "../../schemas/postgres/migrate.ts";
import { migrationFiles, STORES } from "../../schemas/versions/migration-files.ts";
import { productSources } from "../architecture/source-files.ts";
import { createPostgresDatabase, dropPostgresDatabase } from "../services/fresh-database.ts";
import { type RunningServers, startServers } from "../services/servers.ts";
import { alerts } from "./alert-rules.ts";
import { isMetric } from "./known-metrics.ts";
import { runbooks } from "./runbooks.ts";

const commands = await allCommands();

const HEADINGS = ["Meaning", "What users see", "Look at", "Do", "Afterwards"];
const sources = productSources()
  .map((path) => readFileSync(projectFile(path), "utf8"))
  .join("\n");
const schemas = STORES.flatMap((store) => migrationFiles(store).map(({ sql }) => sql)).join("\n");

test("every alert has its runbook, and every runbook its alert", () => {
  expect(runbooks.map(({ name }) => name)).toEqual(alerts.map(({ alert }) => alert).toSorted());
  for (const { name, title } of runbooks) expect(title).toBe(name);
});

test("the page on observing lists each alert under its severity", () => {
  const page = readFileSync(projectFile("deploy", "pages", "observe.md"), "utf8");
  for (const severity of ["page", "ticket", "info"]) {
    const lines = page.split("\n");
    const line = lines.find((one) => one.startsWith(`- \`${severity}\``)) ?? "";
    const listed = [...line.matchAll(/runbooks\/(\w+)\.md/g)]
      .map(([, name = ""]) => name)
      .toSorted();
    const own = alerts.filter(({ labels }) => labels.severity === severity);
    expect(listed, severity).toEqual(own.map(({ alert }) => alert).toSorted());
  }
});

describe.each(runbooks.map((runbook) => [runbook.name, runbook] as const))("%s", (_, runbook) => {
  test("has the five headings", () => {
    expect(runbook.headings).toEqual(HEADINGS);
  });

  test("names only log events that a process writes", () => {
    const events = runbook.words.filter((word) => isLogEvent(word));
    expect(events.filter((event) => !sources.includes(`"${event}"`))).toEqual([]);
  });

  test("names only settings that a process reads", () => {
    const settings = runbook.words.flatMap((word) => /^[A-Z]+(?:_[A-Z]+)+/.exec(word) ?? []);
    expect(settings.filter((setting) => !Object.hasOwn(SETTINGS, setting))).toEqual([]);
  });

  test("names only metrics that a process has", () => {
    const metrics = runbook.words.filter((word) => word.startsWith("tracker_"));
    expect(metrics.filter((metric) => !isMetric(metric))).toEqual([]);
  });

  test("names only commands and options of the program", () => {
    const lines = runbook.words.filter((word) => word.startsWith("tracker "));
    expect(lines.flatMap((line) => faultOf(line) ?? [])).toEqual([]);
  });

  test("names only other alerts that exist", () => {
    const known = new Set(alerts.map(({ alert }) => alert));
    const named = runbook.words.filter((word) => /^Tracker[A-Z]\w+$/.test(word));
    expect(named.filter((alert) => !known.has(alert))).toEqual([]);
  });

  test("names only tables and columns that a store has", () => {
    const named = runbook.words.filter((word) => /^(?!tracker_)[a-z]+(?:_[a-z]+)+$/.test(word));
    const unknown = named.filter((word) => !new RegExp(`\\b${word}\\b`).test(schemas));
    expect(unknown.filter((word) => !OF_OTHERS.has(word))).toEqual([]);
  });
});

describe("the statements of runbooks", () => {
  let servers: RunningServers<"postgres">;
  let pool: Pool;
  const name = `test_runbooks_${process.pid}`;

  beforeAll(async () => {
    servers = await startServers({ need: ["postgres"] });
    await createPostgresDatabase(servers.urls.postgres, name);
    const url = new URL(servers.urls.postgres);
    url.pathname = name;
    pool = openPool({ url: url.href, applicationName: "test" });
    await migratePostgres(pool);
  });

  afterAll(async () => {
    await pool.end();
    await dropPostgresDatabase(servers.urls.postgres, name);
    await servers.stop();
  });

  const statements = runbooks.flatMap((runbook) =>
    runbook.statements.map((text, index) => [runbook.name, index + 1, text] as const),
  );

  test.each(statements)("%s: statement %d can be run", async (_name, _number, text) => {
    await expect(pool.query({ text: `explain ${text}`, values: [] })).resolves.toBeDefined();
  });
});

/** What is wrong with a command line, such as `tracker audit --repair`. */
function faultOf(line: string): string | undefined {
  const words = line.replace(/^tracker (?:help )?/, "");
  const role = PROGRAM_ROLES.find(({ name }) => words.startsWith(name));
  if (role !== undefined) {
    const lines = [role.name, ...role.options.map(([option]) => `${role.name} ${option}`)];
    return lines.includes(words) ? undefined : `${line}: no such role or option`;
  }
  const known = commands
    .filter(({ name }) => `${words} `.startsWith(`${name} `))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
  if (known === undefined) return `${line}: no such command`;
  const options = [...words.matchAll(/--([a-z-]+)/g)].map(([, option = ""]) => option);
  const unknown = options.find((option) => !Object.hasOwn(known.options, option));
  return unknown === undefined ? undefined : `${line}: no option --${unknown}`;
}

/** Facts of `/status`, and names that belong to Postgres or ClickHouse. */
const OF_OTHERS = new Set([
  "catalog_version",
  "log_comment",
  "pg_stat_activity",
  "pg_terminate_backend",
  "synchronous_standby_names",
]);

/** Such as `clicks.lane-lost`. The tables of ClickHouse about itself and settings of the system look alike. */
function isLogEvent(word: string): boolean {
  return /^(?!system\.|vm\.)[a-z]+(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)*$/.test(word);
}

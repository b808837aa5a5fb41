import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { EmbeddedServer } from "../../../deploy/local/embedded-server.ts";
import { findingsOf } from "../../../schemas/checks/check.ts";
import { CLICKHOUSE_CHECKS } from "../../../schemas/checks/clickhouse-checks.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { startConfiguredClickhouse } from "../../deploy/configured-clickhouse.ts";
import { firstClick, type StartTracker } from "../../deploy/first-click.ts";
import { trackerProcesses } from "../../deploy/tracker-processes.ts";
import { RELAXED } from "../../samples/durability.ts";
import { freshDatabase } from "../../services/fresh-database.ts";
import { type RunningServers, runtimeDir, startServers } from "../../services/servers.ts";
import { ServiceClient } from "../../system/service.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

const ROLES = ["migrate", "writer", "reader"] as const;
type Role = (typeof ROLES)[number];

const passwords: Record<Role, string> = {
  migrate: randomBytes(12).toString("hex"),
  writer: randomBytes(12).toString("hex"),
  reader: randomBytes(12).toString("hex"),
};
const DENIED = /ACCESS_DENIED|Not enough privileges|SETTING_CONSTRAINT_VIOLATION/;
const Erased = z.object({ data: z.looseObject({ clicks: z.int() }) });

let dataDir = "";
let port = 0;
let server: EmbeddedServer;
let others: RunningServers<"postgres" | "nats">;

/** ClickHouse with deploy/servers/clickhouse/users.xml beside the users of the engine itself. */
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "tracker-clickhouse-users-"));
  const environment = Object.fromEntries(
    ROLES.map((role) => [
      hashVariable(role),
      createHash("sha256").update(passwords[role]).digest("hex"),
    ]),
  );
  const users = projectFile("deploy", "servers", "clickhouse", "users.xml");
  const [clickhouse, running] = await Promise.all([
    startConfiguredClickhouse({ dataDir, users, environment }),
    startServers({ need: ["postgres", "nats"] }),
  ]);
  [server, port, others] = [clickhouse, clickhouse.port, running];
});

afterAll(async () => {
  await server.stop();
  await others.stop();
  await rm(dataDir, { recursive: true });
});

/** The variable from which users.xml reads the hash of the role's password. */
const hashVariable = (role: Role): string => `TRACKER_${role.toUpperCase()}_SHA256`;

const urlOf = (role: Role): string =>
  `http://tracker_${role}:${passwords[role]}@127.0.0.1:${port}/tracker`;

/** "" if the server carries it out, else what it says. */
async function faultOf(role: Role, query: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/?database=tracker`, {
    method: "POST",
    body: query,
    headers: {
      "x-clickhouse-user": `tracker_${role}`,
      "x-clickhouse-key": passwords[role],
    },
  });
  const text = await answer.text();
  return answer.ok ? "" : text;
}

test("a whole service works with these three logins: clicks, conversions, reports, erasures, commands", async () => {
  const urls = { ...others.urls, clickhouse: server.url };
  const database = await freshDatabase({ label: "users", servers: urls });
  const { ingress, processors, api, migrate } = await trackerProcesses({
    database: { ...database, clickhouseUrl: "" },
    natsUrl: urls.nats,
  });
  const asRole = <P extends { env: Readonly<Record<string, string>> }>(one: P, role: Role): P => ({
    ...one,
    env: { ...one.env, CLICKHOUSE_URL: urlOf(role) },
  });
  const commands = asRole(migrate, "migrate");
  const withReader = asRole(api, "writer");
  const said: string[] = [];
  const result = await firstClick(
    {
      start: starter(dataDir),
      migrate: commands,
      ingress,
      processors: asRole(processors, "writer"),
      api: { ...withReader, env: { ...withReader.env, CLICKHOUSE_READER_URL: urlOf("reader") } },
    },
    async (demo, clickId) => {
      const client = new ServiceClient(demo);
      const erased = Erased.parse(await client.create("/erasures", { click_id: clickId }));
      expect(erased.data.clicks).toBe(1);
      await client.close();
      for (const args of [["audit"], ["status", "--json"], ["doctor"]])
        said.push((await trackerCommand(dataDir, args, commands.env)).output);
    },
  );
  expect(Object.values(result.exitCodes)).toEqual([0, 0, 0]);
  for (const text of [...Object.values(result.output), ...said]) expect(text).not.toMatch(DENIED);
  expect(said.join("\n")).toContain("clickhouse");
  // Reports went by the reader, clicks by the writer.
  expect(await usersOf("log_comment like 'api.%'")).toEqual(["tracker_reader"]);
  expect(await usersOf("query_kind = 'Insert' and has(tables, 'tracker.click')")).toEqual([
    "tracker_writer",
  ]);
});

test("what DURABILITY=strict asks is allowed to the writer", async () => {
  const clickhouse = openClickhouse({ url: urlOf("writer"), applicationName: "test" });
  const sources = { durability: RELAXED, clickhouse, clickWriter: clickhouse };
  const findings = await findingsOf(CLICKHOUSE_CHECKS, sources, 60_000);
  expect(findings.map(({ check }) => check.id)).toEqual(["C1", "C3", "C2"]);
  expect(findings.filter(({ missing }) => missing !== undefined)).toEqual([]);
  for (const { faults } of findings) expect(JSON.stringify(faults)).not.toContain("refuses the q");
  await clickhouse.close();
});

/** Who has run such statements, by the log of the server, which is written each second. */
async function usersOf(condition: string): Promise<string[]> {
  const clickhouse = openClickhouse({ url: server.url, applicationName: "test" });
  const query = `select distinct user from system.query_log where type = 'QueryFinish' and ${condition}`;
  try {
    return await until(`the log has ${condition}`, async () => {
      const answer = await clickhouse.query({ query, format: "JSONEachRow" });
      const users = z.array(z.object({ user: z.string() })).parse(await answer.json());
      return users.length === 0 ? undefined : users.map(({ user }) => user);
    });
  } finally {
    await clickhouse.close();
  }
}

const CLICK = "insert into click (click_id) values (toFixedString('x', 16))";
const ROW = "insert into lane_fence (lane, epoch) values (99, 1)";

describe("a reader", () => {
  test.each([
    ["inserts a click", CLICK],
    ["inserts a fence", ROW],
    ["changes a click", "alter table click update visitor = 0 where 0"],
    ["deletes facts", "delete from conversion_fact where 0"],
    ["empties a table", "truncate table insert_trial"],
    ["drops a table", "drop table insert_trial"],
    ["drops the database", "drop database tracker"],
    ["drops a partition", "alter table click drop partition 200001"],
    ["creates a table", "create table mine (a Int8) engine = MergeTree order by a"],
    ["creates a temporary table", "create temporary table mine (a Int8)"],
    ["merges a table", "optimize table click final"],
    ["stops merges", "system stop merges click"],
    ["creates a user", "create user mine"],
    ["gives a right away", "grant select on tracker.* to tracker_writer"],
    ["reads a file", "select * from file('/etc/passwd', LineAsString)"],
    ["asks another host", "select * from url('http://127.0.0.1:1/', LineAsString)"],
    ["asks another server", "select * from remote('127.0.0.1:1', system.one)"],
    ["reads the log of statements", "select query from system.query_log limit 1"],
    ["takes more memory", "select 1 settings max_memory_usage = 5000000000"],
    ["lifts the limit of memory", "select 1 settings max_memory_usage = 0"],
    ["takes more time", "select 1 settings max_execution_time = 61"],
    ["lifts the limit of time", "select 1 settings max_execution_time = 0"],
    ["lets a page of another site read answers", "select 1 settings add_http_cors_header = 1"],
  ])("never %s", async (_what, query) => {
    expect(await faultOf("reader", query)).toMatch(DENIED);
  });

  test("reads every table, and may set a shorter limit", async () => {
    expect(await faultOf("reader", "select count() from click")).toBe("");
    expect(await faultOf("reader", "select count() from conversion_fact final")).toBe("");
    expect(await faultOf("reader", "select 1 settings max_execution_time = 20, readonly = 2")).toBe(
      "",
    );
  });
});

describe("a writer", () => {
  test.each([
    ["drops a table", "drop table insert_trial"],
    ["drops a table of clicks", "drop table click"],
    ["drops the database", "drop database tracker"],
    ["drops a partition of clicks", "alter table click drop partition 200001"],
    ["deletes clicks", "delete from click where 0"],
    ["empties a table", "truncate table click"],
    ["drops a column", "alter table click drop column visitor"],
    ["adds a column", "alter table click add column mine Int8"],
    ["changes a setting of a table", "alter table click modify setting fsync_after_insert = 0"],
    ["renames a table", "rename table click to mine"],
    ["detaches a table", "detach table click"],
    ["creates a table", "create table mine (a Int8) engine = MergeTree order by a"],
    ["notes a migration", "insert into schema_migration (number, name) values (999, 'mine')"],
    ["stops merges", "system stop merges click"],
    ["creates a user", "create user mine"],
    ["gives a right away", "grant insert on tracker.* to tracker_reader"],
    ["copies the database", "backup database tracker to File('mine')"],
    ["reads a file", "select * from file('/etc/passwd', LineAsString)"],
    ["reads the log of statements", "select query from system.query_log limit 1"],
  ])("never %s", async (_what, query) => {
    expect(await faultOf("writer", query)).toMatch(DENIED);
  });

  test("inserts, erases, and deletes facts", async () => {
    expect(await faultOf("writer", ROW)).toBe("");
    expect(await faultOf("writer", "alter table click update visitor = 0 where 0")).toBe("");
    expect(await faultOf("writer", "delete from conversion_fact where 0")).toBe("");
    for (const table of ["parts", "mutations", "processes", "replicas", "macros"])
      expect(await faultOf("writer", `select count() from system.${table}`)).toBe("");
  });
});

describe("the login of migrate", () => {
  test.each([
    ["creates a user", "create user mine"],
    ["gives a right away", "grant select on tracker.* to tracker_reader"],
    ["reads a file", "select * from file('/etc/passwd', LineAsString)"],
    ["makes another database", "create database mine"],
    ["reads the log of statements", "select query from system.query_log limit 1"],
  ])("never %s", async (_what, query) => {
    expect(await faultOf("migrate", query)).toMatch(DENIED);
  });
});

test("a wrong password is refused", async () => {
  const answer = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    body: "select 1",
    headers: { "x-clickhouse-user": "tracker_reader", "x-clickhouse-key": passwords.writer },
  });
  expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("516")]);
});

/** Runs `tracker <args>` from the compiled program. */
function starter(folder: string): StartTracker {
  return ({ args, env }): ChildProcess =>
    spawn(process.execPath, [projectFile(".build", "deploy", "tracker.js"), ...args], {
      env: { PATH: process.env["PATH"], DATA_DIR: folder, RUNTIME_DIR: runtimeDir(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
}

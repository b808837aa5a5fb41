import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openLog } from "../../../schemas/host/log.ts";
import { answerStatus } from "../../../schemas/installation/process-status.ts";
import { connectNats } from "../../../schemas/nats/connect.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { keepDown } from "../../system/processes.ts";
import { serversOf } from "../../system/servers-of.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

const CLICKS = 60;
const PATIENCE = { timeoutMs: 60_000, pollMs: 200 };
/** It returns when the rows are changed. */
const AT_ONCE = {
  mutations_sync: "2",
  lightweight_deletes_sync: "2",
} as const;
/** A producer whose lanes no process reads, so what the test plants there stays. */
const STRANGER = 4_000;
const CHECKS = ["clicks", "ids", "stream", "journals", "catalog", "facts", "rollups"] as const;
type Name = (typeof CHECKS)[number];

let system: System;
let db: Pool;
let clickhouse: Clickhouse;

beforeAll(async () => {
  system = await startSystem();
  const urls = await serversOf(system);
  db = openPool({ url: urls.postgres, applicationName: "test" });
  clickhouse = openClickhouse({ url: urls.clickhouse, applicationName: "test" });
  const { links, tracking_url, postback_token } = system.client.demo;
  for (let i = 0; i < CLICKS; i += 1) {
    const { headers } = await system.client.attempt(`${links.affiliate}?sub1=audit`);
    const id = /trk_cid=([0-9a-f]{32})/.exec(String(headers["set-cookie"]))?.[1] ?? "";
    if (i % 20 === 0)
      await system.client.attempt(
        `${tracking_url}/pb?click_id=${id}&token=${postback_token}&txid=audit-${i}`,
      );
  }
  await until("the clicks are stored", async () => (await storedClicks()) >= CLICKS, PATIENCE);
});
afterAll(async () => {
  await clickhouse.close();
  await db.end();
  await system[Symbol.asyncDispose]();
});

const Report = z.object({
  exit_code: z.int(),
  checks: z.array(
    z.object({
      name: z.enum(CHECKS),
      outcome: z.enum(["equal", "differs", "unknown"]),
      summary: z.string(),
      details: z.array(z.string()),
    }),
  ),
});

/** The checks that are not equal, with what they say. */
type Faults = Readonly<Partial<Record<Name, string>>>;
type Audited = { readonly code: number; readonly faults: Faults };

async function audit(...options: string[]): Promise<Audited> {
  const { code, output } = await trackerCommand(system.dataDir, [
    "audit",
    "--deep",
    "--json",
    ...options,
  ]);
  const report = Report.parse(JSON.parse(output.slice(output.indexOf("{\n"))));
  expect(report.exit_code).toBe(code);
  expect(report.checks.map(({ name }) => name)).toEqual([...CHECKS]);
  const faults: Partial<Record<Name, string>> = {};
  for (const { name, outcome, summary, details } of report.checks) {
    if (outcome === "equal") continue;
    faults[name] = [outcome, ...(details.length === 0 ? [summary] : details)].join(" ");
  }
  return { code, faults };
}

async function storedClicks(): Promise<number> {
  const answer = await clickhouse.query({
    query: "select toUInt32(count()) as clicks from click where sub1 = 'audit'",
    format: "JSONEachRow",
  });
  const [row] = z.array(z.object({ clicks: z.int() })).parse(await answer.json());
  return row?.clicks ?? 0;
}

async function change(query: string): Promise<void> {
  await clickhouse.command({ query, clickhouse_settings: AT_ONCE });
}

/** Copies of 6 clicks under another producer, at positions from `first` on. */
async function plant(
  epoch: number,
  positions: readonly number[],
  ids = "generateUUIDv4()",
): Promise<void> {
  for (const position of positions) {
    await change(`insert into click select * replace (${STRANGER} as _producer, ${epoch} as _epoch, ${position} as _position,
      reinterpretAsFixedString(${ids}) as click_id) from (select * from click where sub1 = 'audit' and _producer != ${STRANGER} limit 1)`);
  }
}

async function forget(epoch: number): Promise<void> {
  await change(`alter table click delete where _producer = ${STRANGER} and _epoch = ${epoch}`);
}

function expectOnly(faults: Faults, name: Name, says: RegExp): void {
  expect(Object.keys(faults)).toEqual([name]);
  expect(faults[name]).toMatch(says);
}

async function untilEqual(): Promise<void> {
  // Each try is a process that loads the whole program.
  const every = { ...PATIENCE, pollMs: 1_500 };
  await until("the audit is equal", async () => (await audit()).code === 0, every);
}

test("a sound service differs in nothing, in text that fits a terminal", async () => {
  await untilEqual();
  const { code, output } = await trackerCommand(system.dataDir, ["audit"]);
  expect(code, output).toBe(0);
  const lines = output.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(" "))).toEqual(
    CHECKS.filter((name) => name !== "rollups").map((name) => `${name} equal`),
  );
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
});

test("a position without a row is a missing row of its lane and producer", async () => {
  await plant(1, [0, 1, 3]);
  const { code, faults } = await audit();
  expect(code).toBe(1);
  expectOnly(faults, "clicks", /lane \d, producer 4000 \(epoch 1\): 1 rows missing/);
  // A note explains it.
  const [{ lane } = { lane: -1 }] = (
    await db.query<{ lane: number }>({
      name: "test-note",
      text: `insert into click_lost (lane, producer, epoch, from_position, to_position, reason)
             select (regexp_match($1, 'lane (\\d+)'))[1]::int, $2, 1, 2, 3, 'declared' returning lane`,
      values: [faults.clicks, STRANGER],
    })
  ).rows;
  expect(lane).toBeGreaterThanOrEqual(0);
  expect(await audit()).toEqual({ code: 0, faults: {} });
  await forget(1);
  await db.query({
    name: "test-forget",
    text: "delete from click_lost where producer = $1",
    values: [STRANGER],
  });
});

test("rows that the writers have noted, and that the table lost, are missing", async () => {
  await db.query({
    name: "test-stored",
    text: "insert into click_stored (lane, producer, epoch, settled) values (2, $1, 2, 7)",
    values: [STRANGER],
  });
  expect((await audit()).faults.clicks).toMatch(
    /lane 2, producer 4000 \(epoch 2\): 7 rows missing/,
  );
  await db.query({
    name: "test-unstored",
    text: "delete from click_stored where producer = $1",
    values: [STRANGER],
  });
});

test("rows that a frozen writer stored again are named, and --repair deletes the second ones only", async () => {
  await plant(3, [0, 1, 2]);
  await change(
    `insert into click select * replace (now64(3) as inserted_at) from (select * from click where _producer = ${STRANGER} and _epoch = 3)`,
  );
  const found = await audit();
  expect(found.code).toBe(1);
  expect(found.faults.clicks).toMatch(/producer 4000 \(epoch 3\): 3 rows too many/);
  expect(found.faults.ids).toMatch(/^differs Click [0-9a-f]{32} .* has 2 rows/);
  const before = await storedClicks();
  expect(await audit("--repair")).toEqual({ code: 0, faults: {} });
  expect(await storedClicks()).toBe(before - 3);
  await forget(3);
});

test("two clicks with one id at different positions are an id twice, which no repair decides", async () => {
  await plant(4, [0, 1], "toFixedString('0123456789abcdef', 16)");
  for (const options of [[], ["--repair"]]) {
    const { code, faults } = await audit(...options);
    expect(code).toBe(1);
    expectOnly(faults, "ids", new RegExp(Buffer.from("0123456789abcdef").toString("hex")));
  }
  await forget(4);
});

test("a stream that was shrunk by hand keeps less than the settings ask for", async () => {
  const env = { CLICKS_STREAM_HOURS: "1000" };
  const { code, output } = await trackerCommand(system.dataDir, ["audit"], env);
  expect(code, output).toBe(1);
  expect(output).toMatch(
    /^stream +differs.*\n +CLICKS keeps clicks for 72 h, CLICKS_STREAM_HOURS asks for 1000/m,
  );
});

test("a journal whose ingress is gone is named until its process is back", async () => {
  await db.query({
    name: "test-silent",
    text: `insert into click_producer (lane, producer, epoch, said_ms)
           select lane, $1, 5, (extract(epoch from now()) * 1000)::bigint - 3600000 from lane_lease limit 1`,
    values: [STRANGER],
  });
  expect((await audit()).faults.journals).toMatch(
    /^differs Producer 4000 on .* has been silent since/,
  );
  await db.query({
    name: "test-spoken",
    text: "delete from click_producer where producer = $1",
    values: [STRANGER],
  });
});

test("a fact that ClickHouse lost and one that Postgres does not have are named and repaired", async () => {
  await change("delete from conversion_fact where 1");
  await change(`insert into ad_cost_fact (workspace_id, wall_time, id, version, currency, amount)
    values (1, toStartOfDay(now('UTC')), 900001, 1, 'USD', 1)`);
  expectOnly((await audit()).faults, "facts", /^differs \d+ records differ/);
  expect(await audit("--repair")).toEqual({ code: 0, faults: {} });
});

test("a process with an old catalog, with one of another Postgres, or with clicks that wait is named", async () => {
  const { nats: url } = await serversOf(system);
  const nats = await connectNats({ url, name: "test", prefix: "" });
  const process = {
    role: "ingress",
    version: "0.0.1",
    commit: "",
    uptime_ms: 1,
    stage: "running",
    ready: true,
    host: "elsewhere",
  };
  const stranger = randomUUID();
  const log = openLog({ process: "test", level: "silent" });
  const told = [
    { process_id: randomUUID(), name: "ingress-old", catalog_version: 1, catalog_mark: stranger },
    {
      process_id: randomUUID(),
      name: "ingress-other",
      catalog_version: 2 ** 40,
      catalog_mark: stranger,
    },
    {
      process_id: randomUUID(),
      name: "ingress-late",
      oldest_unstored_seconds: 400,
      unstored_records: 9,
    },
  ];
  for (const one of told) answerStatus(nats, () => ({ ...process, ...one }), log);
  await nats.connection.flush();
  const ids = told.map(({ process_id }) => process_id);
  await db.query({
    name: "test-alive",
    text: `insert into system_process select id, role, 'fake', 'elsewhere', version, commit, schema_version, incarnation, started_at, now()
           from system_process, unnest($1::uuid[]) as id where role = 'api'`,
    values: [ids],
  });
  const { code, faults } = await audit();
  await nats.connection.close();
  await db.query({
    name: "test-dead",
    text: "delete from system_process where host = 'elsewhere'",
  });
  expect(code).toBe(1);
  expect(Object.keys(faults)).toEqual(["journals", "catalog"]);
  expect(faults.journals).toMatch(
    /ingress-late has 9 clicks that are not stored, the oldest for 7 min/,
  );
  expect(faults.catalog).toMatch(
    /ingress-old on elsewhere has catalog version 1, Postgres has \d+/,
  );
  expect(faults.catalog).toContain(
    "ingress-other on elsewhere has a catalog that is not from this Postgres",
  );
});

test.each([
  ["nats", 3, ["stream", "journals", "catalog"]],
  ["clickhouse", 3, ["clicks", "ids", "facts", "rollups"]],
] as const)(
  "without %s nobody can tell, and the other checks are done",
  async (job, exit, unknown) => {
    await untilEqual();
    const startAgain = await keepDown(system, job);
    const { code, faults } = await audit().finally(startAgain);
    expect(code).toBe(exit);
    expect(Object.keys(faults)).toEqual([...unknown]);
    expect(Object.values(faults).join("\n")).not.toMatch(/^differs/m);
  },
);

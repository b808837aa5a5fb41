import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { markClickhouse } from "../../../schemas/installation/store-marks.ts";
import { connectNats } from "../../../schemas/nats/connect.ts";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { createPostgresDatabase } from "../../services/fresh-database.ts";
import { ChildServer } from "../../system/child-server.ts";
import { chosenBySeed, SEED } from "../../system/seed.ts";
import { ingressProgram, nodeProgram } from "../../system/service-program.ts";
import { freePort } from "../../system/start-system.ts";
import { StrictServers } from "../../system/strict-servers.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

type Env = Readonly<Record<string, string>>;
type ProcessName = "ingress" | "processors" | "api";

/** One wrong setting: the processes that must refuse it, and a part of their sentence. */
type Case = {
  readonly what: string;
  readonly processes?: readonly ProcessName[];
  readonly sentence: RegExp;
  readonly env?: Env | (() => Promise<Env> | Env);
  readonly make?: () => Promise<unknown>;
  readonly undo?: () => Promise<unknown>;
};

const EXIT_NOT_DURABLE = 4;
const ALL: readonly ProcessName[] = ["ingress", "processors", "api"];
const API: readonly ProcessName[] = ["api"];
const STORES: readonly ProcessName[] = ["processors", "api"];
const Demo = z.object({ links: z.object({ affiliate: z.string() }) });

const strict = await forThisFile(StrictServers.open());
const { servers } = strict;
const demo = Demo.parse(await prepare(strict.env));

/** Brings the stores to this release and makes a workspace with a link. */
async function prepare(env: Env): Promise<unknown> {
  const migrated = await trackerCommand(strict.dataDir, ["migrate"], env);
  expect(migrated).toMatchObject({ code: 0 });
  expect(migrated.output).toContain("syncs inserts into click, impression");
  const made = await trackerCommand(strict.dataDir, ["demo", "--json"], env);
  return JSON.parse(made.output.slice(made.output.indexOf("{")));
}

async function spawn(name: ProcessName, env: Env = {}): Promise<ChildServer> {
  const command = name === "ingress" ? await ingressProgram() : nodeProgram(name);
  return ChildServer.spawn(command, {
    ...strict.env,
    DATA_DIR: join(strict.dataDir, name),
    TRACKING_PORT: String(await freePort()),
    API_PORT: String(await freePort()),
    OPS_PORT: "0",
    ...env,
  });
}

async function onPostgres(text: string): Promise<void> {
  const pool = openPool({ url: servers.postgres.url, applicationName: "test", connectionsMax: 1 });
  await pool.query({ text });
  await pool.end();
}

async function onClickhouse(...statements: readonly string[]): Promise<void> {
  const clickhouse = openClickhouse({ url: servers.clickhouse.url, applicationName: "test" });
  for (const query of statements) await clickhouse.command({ query });
  await clickhouse.close();
}

/** A stream of clicks with other settings, under a prefix of its own. */
async function wrongStream(settings: Readonly<Record<string, unknown>>): Promise<Env> {
  const prefix = `p35-${randomUUID().slice(0, 8)}`;
  const nats = await connectNats({ url: servers.nats.url, name: "test", prefix });
  const name = `CLICKS_${prefix}`;
  const config = { name, subjects: [`${prefix}.clicks.*`], num_replicas: 1, ...settings };
  const reply = await nats.connection.request(
    `$JS.API.STREAM.CREATE.${name}`,
    JSON.stringify({ storage: "file", retention: "limits", discard: "old", ...config }),
  );
  expect(reply.string()).not.toContain('"error"');
  await nats.connection.close();
  return { NATS_PREFIX: prefix };
}

const NO_WINDOW = "non_replicated_deduplication_window";
const INSERT_TRIAL = `create table insert_trial (trial UUID, tried_at DateTime('UTC') default now())
  engine = MergeTree order by tried_at`;

const CASES: readonly Case[] = [
  {
    what: "NATS does not sync",
    processes: ALL,
    sentence: /^N1: NATS server tracker-\d+ .*sync_interval to always/m,
    env: { NATS_URL: servers.lazyNats.url, NATS_SYS_URL: servers.lazyNats.systemUrl },
  },
  {
    what: "nobody has set DURABILITY, and NATS does not sync",
    processes: ALL,
    sentence: /^N1: NATS server tracker-\d+ .*sync_interval to always/m,
    // An empty variable counts as unset.
    env: {
      DURABILITY: "",
      NATS_URL: servers.lazyNats.url,
      NATS_SYS_URL: servers.lazyNats.systemUrl,
    },
  },
  {
    what: "there is no way to ask NATS",
    sentence: /^N1: .*NATS_SYS_URL.*NATS_MONITOR_URLS/m,
    env: { NATS_SYS_URL: "" },
  },
  {
    what: "NATS_SYS_URL has an ordinary user",
    sentence: /^N1: .*system account/m,
    env: { NATS_SYS_URL: servers.nats.url },
  },
  {
    what: "NATS_SYS_URL has a wrong password",
    sentence: /^N1: .*system account/m,
    env: { NATS_SYS_URL: servers.nats.systemUrl.replace(/:[^:@]+@/, ":wrong@") },
  },
  {
    what: "the stream has one copy in a fleet",
    sentence: /^N2: .* 1 of 3 copies.*NATS_REPLICAS=3/m,
    env: { STRICT_SINGLE_SITE: "0" },
  },
  {
    what: "the stream is in memory",
    sentence: /^N2: .*in memory/m,
    env: () => wrongStream({ storage: "memory" }),
  },
  {
    what: "the stream refuses new clicks",
    sentence: /^N2: .*refuses new clicks/m,
    env: () => wrongStream({ discard: "new" }),
  },
  {
    what: "the stream keeps clicks for a day",
    sentence: /^N2: .*for 24 h/m,
    env: () => wrongStream({ max_age: 86_400_000_000_000 }),
  },
  {
    what: "Postgres does not sync",
    processes: ALL,
    sentence: /^P1: Postgres has fsync off/m,
    make: () => strict.setPostgres("fsync = off"),
    undo: () => strict.setPostgres(""),
  },
  {
    what: "Postgres writes parts of pages",
    sentence: /^P1: Postgres has full_page_writes off/m,
    make: () => strict.setPostgres("full_page_writes = off"),
    undo: () => strict.setPostgres(""),
  },
  {
    what: "our role commits without a sync",
    processes: ALL,
    sentence: /^P1: Postgres has synchronous_commit off/m,
    make: () => onPostgres("alter role tracker set synchronous_commit = off"),
    undo: () => onPostgres("alter role tracker reset synchronous_commit"),
  },
  {
    what: "a table of Postgres is unlogged",
    sentence: /^P2: The Postgres table conversion_note .*set logged/m,
    make: () => onPostgres("create unlogged table conversion_note (id int)"),
    undo: () => onPostgres("drop table conversion_note"),
  },
  {
    what: "Postgres has no standby",
    processes: ALL,
    sentence: /^P3: .*wait for 0 of 1 standbys/m,
    env: { STRICT_STANDBYS: "1" },
  },
  {
    what: "ClickHouse remembers few inserts",
    processes: STORES,
    sentence: /^C1: .*click has non_replicated_deduplication_window 100,/m,
    make: () => onClickhouse(`alter table click modify setting ${NO_WINDOW} = 100`),
    undo: () => onClickhouse(`alter table click modify setting ${NO_WINDOW} = 10000`),
  },
  {
    what: "ClickHouse does not sync inserts",
    processes: STORES,
    sentence: /^C1: .*impression .*fsync_after_insert off.*tracker migrate/m,
    make: () => onClickhouse("alter table impression reset setting fsync_after_insert"),
    undo: () => onClickhouse("alter table impression modify setting fsync_after_insert = 1"),
  },
  {
    what: "ClickHouse stores repeated inserts",
    processes: ["processors"],
    sentence: /^C2: ClickHouse stored a row 2 times/m,
    make: () => onClickhouse("drop table insert_trial", INSERT_TRIAL),
    undo: () =>
      onClickhouse("drop table insert_trial", `${INSERT_TRIAL} settings ${NO_WINDOW} = 10000`),
  },
  {
    what: "ClickHouse belongs to another installation",
    processes: STORES,
    sentence: /^I1: ClickHouse has the incarnation/m,
    env: strangerClickhouse,
  },
  {
    what: "the journal is in memory",
    processes: ["ingress"],
    sentence: /^J1: The journal folder \/dev\/shm.* tmpfs/m,
    env: async () => ({ DATA_DIR: await mkdtemp("/dev/shm/tracker-p35-") }),
  },
  {
    what: "the journal is not synced",
    processes: ["ingress"],
    sentence: /^J1: JOURNAL_SYNC is none/m,
    env: { JOURNAL_SYNC: "none" },
  },
];

/** A migrated database of another installation on the same server. */
async function strangerClickhouse(): Promise<Env> {
  await onClickhouse("create database stranger");
  await createPostgresDatabase(servers.postgres.url, "stranger");
  const at = (url: string): string => url.replace(/\/tracker$/, "/stranger");
  const env = {
    CLICKHOUSE_URL: at(servers.clickhouse.url),
    POSTGRES_URL: at(servers.postgres.url),
    NATS_PREFIX: "stranger",
  };
  const migrated = await trackerCommand(strict.dataDir, ["migrate"], { ...strict.env, ...env });
  expect(migrated).toMatchObject({ code: 0 });
  const clickhouse = openClickhouse({ url: env.CLICKHOUSE_URL, applicationName: "test" });
  const incarnation = randomUUID();
  await markClickhouse(clickhouse, { incarnation, beat: 1_000_000 }, new Map());
  await clickhouse.close();
  return { CLICKHOUSE_URL: env.CLICKHOUSE_URL };
}

test("the processes run with DURABILITY=strict on servers that are set up as the pages say (P35, G258)", async () => {
  for (const name of ALL) {
    const started = await spawn(name);
    const marker = name === "api" ? "api.listening" : "process.running";
    await until(`${name} runs`, () => started.output.includes(marker) || !started.isRunning, {
      timeoutMs: 90_000,
    });
    expect(started.isRunning, started.output).toBe(true);
    expect(started.output).not.toContain("durability.violated");
    // These have no CONSOLE_SECRET.
    expect(started.output.includes("console.no-second-factors")).toBe(name === "api");
    expect(await started.end()).toBe(0);
  }
});

test("a start with a wrong setting ends with code 4 and a sentence that names it (P35)", async (context) => {
  const violations: string[] = [];
  let starts = 0;
  for (const [at, one] of CASES.entries()) {
    const { what, sentence, env = {}, make, undo } = one;
    const processes = startedIn(one, at);
    await make?.();
    const given = typeof env === "function" ? await env() : env;
    const children = await Promise.all(processes.map((name) => spawn(name, given)));
    for (const [index, child] of children.entries()) {
      starts += 1;
      const code = await codeOf(child);
      if (code === EXIT_NOT_DURABLE && sentence.test(child.output)) continue;
      violations.push(
        `${what}: ${processes[index] ?? ""} ended with ${String(code)}: ${child.output.slice(-500)}`,
      );
    }
    await undo?.();
    if (given["DATA_DIR"] !== undefined) await rm(given["DATA_DIR"], { recursive: true });
  }
  reportCases(context, { cases: starts, violations: violations.length });
  expect(violations).toEqual([]);
});

/** Each start costs a second of processor time, so CI tries each wrong setting with one of its processes, which SEED chooses. */
function startedIn({ what, processes = API }: Case, at: number): readonly ProcessName[] {
  const chosen = IS_FULL ? processes : chosenBySeed(processes, 1, SEED + at);
  const left = processes.filter((name) => !chosen.includes(name));
  if (left.length > 0) process.stderr.write(`P35: ${what}: without ${left.join(" and ")}\n`);
  return chosen;
}

/** The exit code; undefined for a process that does not end by itself, which is then ended. */
async function codeOf(child: ChildServer): Promise<number | null | undefined> {
  try {
    await until("the start ends", () => !child.isRunning, { pollMs: 20 });
    return await child.ended;
  } catch {
    await child.end();
    return undefined;
  }
}

test("clicks are answered while NATS is away; when it is back, it is judged and only alerts (P35, P2)", async () => {
  const { lazyNats } = servers;
  await lazyNats.stop();
  const trackingPort = await freePort();
  const healthPort = await freePort();
  const ingress = await spawn("ingress", {
    NATS_URL: lazyNats.url,
    NATS_SYS_URL: lazyNats.systemUrl,
    TRACKING_PORT: String(trackingPort),
    OPS_PORT: String(healthPort),
  });
  expect(await ingress.untilRunning(), ingress.output).toBe(true);
  const link = new URL(demo.links.affiliate);
  link.port = String(trackingPort);
  const click = async (): Promise<number> => (await fetch(link, { redirect: "manual" })).status;
  await until("a click is answered", async () => (await click()) === 302);
  const violation = async (check: string): Promise<string | undefined> =>
    new RegExp(`tracker_durability_violation\\{check="${check}"\\} (\\d)`).exec(
      await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text(),
    )?.[1];
  expect(await violation("N1")).toBeUndefined();
  expect(await violation("P1")).toBe("0");
  await strict.restartLazyNats();
  await until("NATS is judged", async () => (await violation("N1")) === "1");
  expect(ingress.isRunning).toBe(true);
  expect(await click()).toBe(302);
  await strict.setPostgres("fsync = off");
  await until("Postgres is judged again", async () => (await violation("P1")) === "1", {
    timeoutMs: 70_000,
    pollMs: 500,
  });
  expect(await click()).toBe(302);
  await strict.setPostgres("");
  expect(await ingress.end()).toBe(0);
});

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { ClickIdMint } from "../../schemas/ids/click-id.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import { FOUR_LANES } from "../samples/four-lanes.ts";
import { ChildServer } from "../system/child-server.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { type BenchServers, startBenchServers } from "./bench-servers.ts";
import { isOnPath } from "./load-tools.ts";
import { type BenchResult, quantile } from "./result.ts";

const ROUNDS = 3;
const SECONDS = 4;
const WARM_UP_SECONDS = 2;
const OFFERS = 200;
const UNDER_WAY = Number(process.env["BENCH_UNDER_WAY"] ?? "64");
const CLICKS_PER_ROUND = 20_000;
const CLICKS_PER_STATEMENT = 2_000;
const PGBENCH_CLIENTS = 16;
/** Against one row a transaction. With one capped offer both sides wait for the lock of one counter. */
const SPREAD_BUDGET = 1.5;
const ONE_OFFER_BUDGET = 0.5;
/** NP1: what the ledger may cost the recording of conversions. */
const BILLED_BUDGET = 0.9;

const Sent = z.object({
  perSecond: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  results: z.record(z.string(), z.number()),
});
type Sent = z.infer<typeof Sent>;

const INSERT_CLICKS = `insert into click (click_id, ts, workspace_id, advertiser_id, affiliate_id, offer_id, link_type, status,
    country, sub1)
  select unhex(click_id), fromUnixTimestamp64Milli(ts), workspace_id, advertiser_id, affiliate_id, offer_id, 'affiliate',
    'redirect', 'DE', 'bench'
  from input('click_id String, ts Int64, workspace_id UInt32, advertiser_id UInt32, affiliate_id UInt32, offer_id UInt32')
  format JSONEachRow`;

type Case = {
  readonly name: string;
  readonly offerIds: readonly number[];
  readonly budget: number;
};
type Stage = {
  readonly servers: BenchServers;
  readonly pool: Pool;
  readonly folder: string;
  readonly secret: string;
};

/** Conversions per second through one processor, against pgbench calling the same function with one row a transaction. */
export async function run(): Promise<BenchResult[]> {
  if (!isOnPath("pgbench")) {
    const figure = "pgbench is missing: apt-get install postgresql-contrib";
    return [{ name: "/pb per second", figure, baseline: "-", ratio: null, budget: "-", ok: null }];
  }
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const pool = openPool({ url: servers.env["POSTGRES_URL"] ?? "", applicationName: "bench" });
  const processes: ChildServer[] = [];
  try {
    const [installation] = await rowsOf<{ secret: string }>(
      pool,
      "select secret from installation",
    );
    const stage = { servers, pool, folder, secret: installation?.secret ?? "" };
    const spread = {
      name: "/pb per second, spread over 200 offers",
      offerIds: await addOffers(pool, OFFERS, {}),
      budget: SPREAD_BUDGET,
    };
    const caps = { conversions: { daily: 100_000_000 }, payout: { total: "1000000000" } };
    const hot = {
      name: "/pb per second, one capped offer",
      offerIds: await addOffers(pool, 1, caps),
      budget: ONE_OFFER_BUDGET,
    };
    processes.push(await startProcessor(stage, "clicks,conversions"));
    const unbilled = [...(await measure(stage, spread)), ...(await measure(stage, hot))];
    processes.push(await startProcessor(stage, "schedule"));
    return [...unbilled, await measureBilled(stage, spread)];
  } finally {
    for (const process of processes) await process.end();
    await pool.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(stage: Stage, one: Case): Promise<BenchResult[]> {
  await send(stage, one, WARM_UP_SECONDS);
  const own: Sent[] = [];
  const baseline: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    baseline.push(await pgbench(stage, one));
    own.push(await send(stage, one, SECONDS));
  }
  // The ratio of each round: other work on the machine slows both sides of a pair alike.
  const ratio = quantile(
    own.map(({ perSecond }, round) => perSecond / (baseline[round] ?? Number.NaN)),
    0.5,
  );
  const rate = quantile(
    own.map(({ perSecond }) => perSecond),
    0.5,
  );
  const base = quantile(baseline, 0.5);
  const p50 = quantile(
    own.map(({ p50Ms }) => p50Ms),
    0.5,
  );
  const p99 = quantile(
    own.map(({ p99Ms }) => p99Ms),
    0.5,
  );
  return [
    {
      name: one.name,
      figure: `${Math.round(rate)}/s, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      baseline: `pgbench ${Math.round(base)}/s`,
      ratio,
      budget: `>= ${one.budget.toFixed(2)}`,
      ok: ratio >= one.budget,
      // The case of one capped offer is left out: its counter has a lock of its own.
      ...(one.offerIds.length > 1 ? { figures: { conversionsPerSecond: Math.round(rate) } } : {}),
    },
  ];
}

/** With billing on, and the ledger's lane at work, against the same without. */
async function measureBilled(stage: Stage, one: Case): Promise<BenchResult> {
  const rates: { readonly off: number; readonly on: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await switchBilling(stage, one, false);
    const { perSecond: off } = await send(stage, one, SECONDS);
    await switchBilling(stage, one, true);
    const { perSecond: on } = await send(stage, one, SECONDS);
    rates.push({ off, on });
  }
  const ratio = quantile(
    rates.map(({ on, off }) => on / off),
    0.5,
  );
  const middle = (values: readonly number[]): number => Math.round(quantile([...values], 0.5));
  return {
    name: "/pb per second, billing on",
    figure: `${middle(rates.map(({ on }) => on))}/s`,
    baseline: `off ${middle(rates.map(({ off }) => off))}/s`,
    ratio,
    budget: `>= ${BILLED_BUDGET.toFixed(2)}`,
    ok: ratio >= BILLED_BUDGET,
  };
}

async function switchBilling({ pool }: Stage, { offerIds }: Case, isOn: boolean): Promise<void> {
  await pool.query({
    text: `insert into billing_settings (workspace_id, enabled, starts_on, enabled_xid)
           select workspace_id, $2, current_date, pg_current_xact_id() from offer where id = $1
           on conflict (workspace_id) do update set enabled = $2, enabled_xid = pg_current_xact_id()`,
    values: [offerIds[0], isOn],
  });
  // What was recorded while it was off is posted first, so that both rounds have the machine to themselves.
  await until(
    "the ledger has everything",
    async () => {
      const [row] = await rowsOf<{ waits: boolean }>(
        pool,
        `select exists (select from ledger_outbox) or exists (select from billing_settings
           where enabled and (backfilled_to is distinct from 9223372036854775807 or backfill_xid <= enabled_xid)) as waits`,
      );
      return row?.waits === false;
    },
    { timeoutMs: 300_000 },
  );
}

/** Stores clicks of an hour ago, the age at which most conversions arrive, and sends a report for each. */
async function send(stage: Stage, { offerIds }: Case, seconds: number): Promise<Sent> {
  const clickIds = await storeClicks(
    stage,
    offerIds,
    Math.ceil((CLICKS_PER_ROUND * seconds) / SECONDS),
  );
  const path = join(stage.folder, "order.json");
  const { servers } = stage;
  const order = { natsUrl: servers.env["NATS_URL"], token: servers.demo.postback_token, clickIds };
  await writeFile(path, JSON.stringify({ ...order, seconds, underWay: UNDER_WAY }));
  const script = projectFile(".build", "test", "bench", "conversion-sender.js");
  const sent = Sent.parse(JSON.parse(await output(process.execPath, [script, path])));
  const wrong = Object.keys(sent.results).filter((result) => result !== "approved");
  if (wrong.length > 0) throw new Error(`not approved: ${JSON.stringify(sent.results)}`);
  return sent;
}

async function storeClicks(
  stage: Stage,
  offerIds: readonly number[],
  count: number,
): Promise<string[]> {
  const [owners] = await rowsOf<{
    workspace_id: number;
    advertiser_id: number;
    affiliate_id: number;
  }>(
    stage.pool,
    `select o.workspace_id, o.advertiser_id, a.id as affiliate_id from offer o
     join affiliate a on a.workspace_id = o.workspace_id where o.id = $1 order by a.id limit 1`,
    [offerIds[0]],
  );
  const mint = new ClickIdMint({ producer: 9, secret: stage.secret, clock: systemClock });
  const clickhouse = openClickhouse({
    url: stage.servers.env["CLICKHOUSE_URL"] ?? "",
    applicationName: "bench",
  });
  const clickIds: string[] = [];
  try {
    for (let from = 0; from < count; from += CLICKS_PER_STATEMENT) {
      const clicks = Array.from(
        { length: Math.min(CLICKS_PER_STATEMENT, count - from) },
        (_, i) => {
          const offer_id = offerIds[i % offerIds.length] ?? 0;
          const ts = mint.nowMs() - 3_600_000 + i;
          return { ...owners, click_id: mint.mint(ts, FOUR_LANES.ofOffer(offer_id)), ts, offer_id };
        },
      );
      clickIds.push(...clicks.map(({ click_id }) => click_id));
      const { stream } = await clickhouse.exec({
        query: INSERT_CLICKS,
        values: Readable.from([clicks.map((click) => JSON.stringify(click)).join("\n")]),
      });
      stream.resume();
      await finished(stream);
    }
  } finally {
    await clickhouse.close();
  }
  return clickIds;
}

/** Transactions per second of the same function, with the row and the plan of a recorded conversion. */
async function pgbench(stage: Stage, { offerIds }: Case): Promise<number> {
  const [last] = await rowsOf<{ row: string; caps: string }>(
    stage.pool,
    `select (to_jsonb(c) - 'id' - 'click_id' - 'offer_id' - 'version' - 'created_at' - 'updated_at')::text as row,
       coalesce((select jsonb_agg(jsonb_build_object('cap', k.cap, 'period', split_part(k.cap, '/', 4),
         'limit', 100000000, 'add', 1, 'alert', false)) from cap_counter k where k.cap like 'offer/' || c.offer_id || '/%'), '[]')::text as caps
     from conversion c where c.offer_id = any($1) order by c.id desc limit 1`,
    [offerIds],
  );
  const plan = {
    on_txid: "duplicate",
    on_click: "duplicate",
    on_none: "insert",
    latest_of_click: false,
    may_be_multiple: false,
    caps: z.array(z.unknown()).parse(JSON.parse(last?.caps ?? "[]")),
    address_limit: null,
    timezone: "UTC",
    actor: "postback",
    key_id: null,
  };
  await stage.pool.query({
    text: "create table if not exists bench_request (row jsonb, plan jsonb)",
  });
  await stage.pool.query({ text: "delete from bench_request" });
  await stage.pool.query({
    text: "insert into bench_request (row, plan) values ($1, $2)",
    values: [last?.row, JSON.stringify(plan)],
  });
  const first = Math.min(...offerIds);
  const script = `\\set offer random(${first}, ${first + offerIds.length - 1})
select record_conversions(jsonb_build_array(jsonb_build_object('plan', b.plan, 'row', b.row || jsonb_build_object(
  'id', gen_random_uuid(), 'click_id', replace(gen_random_uuid()::text, '-', ''), 'offer_id', :offer::integer)))) from bench_request b;
`;
  const path = join(stage.folder, "conversions.pgbench");
  await writeFile(path, script);
  const clients = ["-c", String(PGBENCH_CLIENTS), "-j", "2", "-T", String(SECONDS)];
  const url = stage.servers.env["POSTGRES_URL"] ?? "";
  const printed = await output("pgbench", ["-n", "-M", "prepared", ...clients, "-f", path, url]);
  const rate = Number(/tps = ([\d.]+)/.exec(printed)?.[1]);
  if (!Number.isFinite(rate)) throw new Error(`pgbench printed: ${printed}`);
  return rate;
}

async function addOffers(pool: Pool, count: number, caps: object): Promise<number[]> {
  const offers = await rowsOf<{ id: number }>(
    pool,
    `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency, caps)
     select a.workspace_id, a.id, 'BENCH' || $1::integer || 'x' || i, 'Bench', 'https://shop.example/', 'USD', $2
     from (select min(id) as id, min(workspace_id) as workspace_id from advertiser) a, generate_series(1, $1::integer) i
     returning id`,
    [count, JSON.stringify(caps)],
  );
  const ids = offers.map(({ id }) => id);
  await pool.query({
    text: `insert into offer_event (offer_id, code, name, is_default, payout_type, payout, revenue_type, revenue)
           select unnest($1::integer[]), 'default', 'Default', true, 'cpa', 10, 'rpa', 15`,
    values: [ids],
  });
  return ids;
}

async function startProcessor({ servers, folder }: Stage, roles: string): Promise<ChildServer> {
  const port = await freePort();
  const command = [process.execPath, projectFile(".build", "processors", "main.js")];
  return ChildServer.start(command, `http://127.0.0.1:${port}/readyz`, {
    ...servers.env,
    ROLES: roles,
    OPS_PORT: String(port),
    DATA_DIR: join(folder, `processors-${roles}`),
    LOG_LEVEL: "warn",
  });
}

async function rowsOf<Row extends Record<string, unknown>>(
  pool: Pool,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await pool.query<Row>({ text, values })).rows;
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], timeout: 120_000 });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
  return text;
}

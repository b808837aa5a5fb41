import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { ChildServer } from "../system/child-server.ts";
import { postgresUs, postmasterOf, processUs } from "../system/postgres-time.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { type BenchServers, startBenchServers } from "./bench-servers.ts";
import { type BenchResult, quantile } from "./result.ts";
import { startApi } from "./service-processes.ts";

const ROWS = 20_000;
const ROUNDS = 3;
const OFFERS = 20;
const PARTNERS = 50;
/** What the contract asks for on two cores (N129). */
const BUDGET_PER_SECOND = 2_000;
const WITHIN_MS = 300_000;

const Update = z.object({ data: z.looseObject({ id: z.int(), status: z.string() }) });

const PHASES = ["upload and check", "apply", "undo"] as const;
type Phase = (typeof PHASES)[number];
type Stage = {
  readonly pool: Pool;
  readonly api: ChildServer;
  readonly key: string;
  readonly postmaster: number;
};
type Measured = {
  readonly perSecond: number;
  readonly postgresUs: number;
  readonly apiUs: number;
};

/** Rows a second of a file of confirmed conversions, with billing on and the ledger at work. */
export async function benchConfirmations(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const pool = openPool({
    url: servers.env["POSTGRES_URL"] ?? "",
    applicationName: "bench",
    statementTimeoutMs: WITHIN_MS,
  });
  const started: ChildServer[] = [];
  try {
    await addTrader(pool, servers.demo.workspace_id);
    const api = await startApi(servers);
    started.push(api, await startSchedule(servers, folder));
    const postmaster = await postmasterOf(pool);
    const stage = { pool, api, key: servers.demo.keys.admin, postmaster };
    const rounds: Record<Phase, Measured>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await oneFile(stage, round));
    return PHASES.map((phase) =>
      resultOf(
        phase,
        rounds.map((round) => round[phase]),
      ),
    );
  } finally {
    for (const server of started.reverse()) await server.end();
    await pool.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function resultOf(phase: Phase, rounds: readonly Measured[]): BenchResult {
  const middle = (value: (one: Measured) => number): number => quantile(rounds.map(value), 0.5);
  const perSecond = middle((one) => one.perSecond);
  const us = `${middle((one) => one.postgresUs).toFixed(0)} µs, api ${middle((one) => one.apiUs).toFixed(0)} µs`;
  return {
    name: `confirmations: ${phase} (load ${(loadavg()[0] ?? 0).toFixed(1)})`,
    figure: `${Math.round(perSecond)} rows/s; a row: Postgres ${us}`,
    baseline: "-",
    ratio: null,
    budget: `>= ${BUDGET_PER_SECOND}/s`,
    ok: perSecond >= BUDGET_PER_SECOND,
  };
}

/** A file of new conversions: a tenth is rejected, a seventh has another amount. */
async function oneFile(stage: Stage, round: number): Promise<Record<Phase, Measured>> {
  const content = await fileOf(stage.pool, round);
  await stage.pool.query({ text: "analyze" });
  let id = 0;
  const check = await measured(stage, async () => {
    const sent = await call(stage, "", { body: content });
    ({ id } = sent);
    await reached(stage, id, "checked");
  });
  const apply = await measured(stage, async () => {
    await call(stage, `/${id}/apply`, {});
    await reached(stage, id, "done");
  });
  const undo = await measured(stage, async () => {
    await call(stage, `/${id}/undo`, {});
    await reached(stage, id, "undone");
  });
  return { "upload and check": check, apply, undo };
}

/** What a phase takes by the clock and in processor time, which contains what the ledger posts meanwhile. */
async function measured({ api, postmaster }: Stage, work: () => Promise<void>): Promise<Measured> {
  const [startedAtMs, postgres, ofApi] = [
    performance.now(),
    postgresUs(postmaster),
    processUs(api.pid),
  ];
  await work();
  return {
    perSecond: (ROWS * 1_000) / (performance.now() - startedAtMs),
    postgresUs: (postgresUs(postmaster) - postgres) / ROWS,
    apiUs: (processUs(api.pid) - ofApi) / ROWS,
  };
}

async function call(
  { api, key }: Stage,
  path: string,
  { body }: { readonly body?: string },
): Promise<{ readonly id: number; readonly status: string }> {
  const answer = await fetch(new URL(`/api/v1/conversion-updates${path}`, api.url), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "text/csv" } : {}) },
    ...(body ? { body } : {}),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return Update.parse(JSON.parse(text)).data;
}

async function reached({ pool }: Stage, id: number, status: string): Promise<void> {
  await until(
    `the file is ${status}`,
    async () => {
      const { rows } = await pool.query<{ status: string }>({
        text: "select status from conversion_update where id = $1",
        values: [id],
      });
      return rows[0]?.status === status;
    },
    { timeoutMs: WITHIN_MS, pollMs: 20 },
  );
}

/** Conversions of 20 offers and 50 partners, a quarter of them approved; a fifth fires a postback when it is approved. */
async function fileOf(pool: Pool, round: number): Promise<string> {
  const { rows } = await pool.query<{ line: string }>({
    text: `with added as (
             insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private, status, revenue,
               payout, sale_amount, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, click_id, adv_txid, conv_ts, click,
               conv_ip, holds_click, holds_txid)
             select gen_random_uuid(), o.workspace_id, o.id, p.id, o.advertiser_id, 1, 'default', false,
               case when n % 4 = 0 then 'approved' else 'pending' end, 15, 5, 100, 'USD', 'cps', 5, 'rps', 15, 's2s',
               md5($2 || '/' || n), 'T' || $2 || '-' || n, now() - n * interval '1 minute', '{"sub1": "a", "country": "DE"}',
               ('10.0.' || n / 256 % 256 || '.' || n % 256)::inet, true, true
             from generate_series(1, $1::integer) n
             join (select id, workspace_id, advertiser_id, row_number() over (order by id) - 1 as place from offer where code like 'CONFIRM%') o
               on o.place = n % $3::integer
             join (select id, row_number() over (order by id) - 1 as place from affiliate where code like 'CONFIRM%') p
               on p.place = n % $4::integer
             returning id, adv_txid)
           select id || ',' || case when abs(hashtext(adv_txid)) % 10 = 0 then 'rejected' else 'approved' end || ','
             || case when abs(hashtext(adv_txid)) % 7 = 0 then '90' else '' end || ',checked' as line from added`,
    values: [ROWS, String(round), OFFERS, PARTNERS],
  });
  return `conversion_id,status,sale_amount,reason\n${rows.map(({ line }) => line).join("\n")}\n`;
}

async function addTrader(pool: Pool, workspaceId: number): Promise<void> {
  await pool.query({
    text: `insert into affiliate (workspace_id, code, name, currency)
           select $1, 'CONFIRM' || i, 'Partner ' || i, 'USD' from generate_series(1, $2::integer) i`,
    values: [workspaceId, PARTNERS],
  });
  await pool.query({
    text: `with added as (
             insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency)
             select $1, (select min(id) from advertiser where workspace_id = $1), 'CONFIRM' || i, 'Offer ' || i, 'https://shop.example/', 'USD'
             from generate_series(1, $2::integer) i returning id)
           insert into postback (workspace_id, offer_id, url)
           select $1, id, 'https://partner.example/?c={conversion_id}' from added where id % 5 = 0`,
    values: [workspaceId, OFFERS],
  });
  await pool.query({
    text: `insert into billing_settings (workspace_id, enabled, starts_on, enabled_xid)
           values ($1, true, current_date - 400, pg_current_xact_id())
           on conflict (workspace_id) do update set enabled = true, enabled_xid = pg_current_xact_id()`,
    values: [workspaceId],
  });
}

/** It posts to the ledger. */
async function startSchedule({ env }: BenchServers, folder: string): Promise<ChildServer> {
  const port = await freePort();
  const command = [process.execPath, projectFile(".build", "processors", "main.js")];
  return await ChildServer.start(command, `http://127.0.0.1:${port}/readyz`, {
    ...env,
    ROLES: "schedule",
    OPS_PORT: String(port),
    LOG_LEVEL: "warn",
    DATA_DIR: join(folder, "processors"),
  });
}

import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { type Receiver, startReceiver } from "../integration/outgoing/receiver.ts";
import { ChildServer } from "../system/child-server.ts";
import { pause } from "../system/service.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { type BenchServers, startBenchServers } from "./bench-servers.ts";
import { type BenchResult, quantile } from "./result.ts";

const ENDPOINTS = 50;
const HANGING = 10;
const CONVERSIONS = 1_000;
const WARM_UP = 2_000;
const BACKLOG = 10_000;
const ROUNDS = 3;
/** Rounds of one delivery to each endpoint. */
const PACED_ROUNDS = 50;
const PACED_MS = 200;
const AIM_PER_SECOND = 2_000;
const P99_BUDGET_MS = 1_000;
const HANGING_BUDGET = 1.5;

type Stage = { readonly pool: Pool; readonly receivers: readonly Receiver[] };
type Arrival = { readonly endpoint: number; readonly id: string; readonly atMs: number };

/** Delivery from the row to the partner's server: rate, delay, and the delay while some endpoints hang. */
export async function benchDeliveries(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const pool = openPool({ url: servers.env["POSTGRES_URL"] ?? "", applicationName: "bench" });
  const receivers: Receiver[] = [];
  let processor: ChildServer | undefined;
  try {
    for (let n = 0; n < ENDPOINTS; n += 1) receivers.push(await startReceiver());
    const stage = { pool, receivers };
    await addPostbacks(stage, servers.demo.workspace_id);
    processor = await startProcessor(servers, folder);
    return await measure(stage);
  } finally {
    await processor?.end();
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await pool.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(stage: Stage): Promise<BenchResult[]> {
  await backlogPerSecond(stage, WARM_UP);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rates.push(await backlogPerSecond(stage, BACKLOG));
  const rate = quantile(rates, 0.5);
  const [quietMs, disturbed] = await delaysWithHanging(stage, "");
  await moveToOnePort(stage);
  const [, onOnePort] = await delaysWithHanging(stage, ", all on one host and port");
  const quiet = quantile(quietMs, 0.99);
  return [
    {
      name: `deliveries/s to ${ENDPOINTS} fast endpoints (load ${(loadavg()[0] ?? 0).toFixed(1)})`,
      figure: `${Math.round(rate)}/s`,
      baseline: "-",
      ratio: null,
      budget: `>= ${AIM_PER_SECOND}/s`,
      ok: rate >= AIM_PER_SECOND,
      figures: { deliveriesPerSecond: rate },
    },
    {
      name: `row to partner's server, ${(ENDPOINTS * 1_000) / PACED_MS}/s`,
      figure: `p50 ${quantile(quietMs, 0.5)} ms, p99 ${quiet} ms`,
      baseline: "-",
      ratio: null,
      budget: `<= ${P99_BUDGET_MS} ms`,
      ok: quiet <= P99_BUDGET_MS,
    },
    disturbed,
    onOnePort,
  ];
}

/** Delays of the other endpoints: in ms while none hangs, and compared with those while some hang. */
async function delaysWithHanging(stage: Stage, where: string): Promise<[number[], BenchResult]> {
  const quietMs = await pacedDelays(stage);
  for (const receiver of stage.receivers) {
    receiver.answer((response, { target }) => {
      if (endpointOf(target) >= HANGING) response.end();
    });
  }
  const hangingMs = await pacedDelays(stage);
  for (const receiver of stage.receivers) receiver.answer((response) => void response.end());
  const [quiet, disturbed] = [quantile(quietMs, 0.99), quantile(hangingMs, 0.99)];
  const result = {
    name: `p99 of the others with ${HANGING} of ${ENDPOINTS} hanging${where}`,
    figure: `${disturbed} ms`,
    baseline: `${quiet} ms without them`,
    ratio: disturbed / quiet,
    budget: `<= ${HANGING_BUDGET.toFixed(2)}`,
    ok: disturbed / quiet <= HANGING_BUDGET,
  };
  return [quietMs, result];
}

/** Deliveries a second, from the commit of all rows to the last arrival. */
async function backlogPerSecond(stage: Stage, count: number): Promise<number> {
  const arrived = (): number =>
    stage.receivers.reduce((sum, { received }) => sum + received.length, 0);
  const before = arrived();
  await addDeliveries(stage.pool, count / ENDPOINTS);
  const startedAtMs = performance.now();
  await until("every delivery has arrived", () => arrived() >= before + count, {
    timeoutMs: 60_000,
    pollMs: 5,
  });
  return (count * 1_000) / (performance.now() - startedAtMs);
}

/** Milliseconds from each row to its arrival at the endpoints that never hang. Each round writes a row for every endpoint. */
async function pacedDelays(stage: Stage): Promise<number[]> {
  const startedAtMs = Date.now();
  for (let round = 0; round < PACED_ROUNDS; round += 1) {
    await addDeliveries(stage.pool, 1);
    await pause(PACED_MS);
  }
  const arrived = (): Arrival[] =>
    arrivals(stage, startedAtMs).filter(({ endpoint }) => endpoint >= HANGING);
  const count = (ENDPOINTS - HANGING) * PACED_ROUNDS;
  await until("every delivery has arrived", () => arrived().length >= count);
  const { rows } = await stage.pool.query<{ id: string; created_at: string }>({
    text: "select id, created_at from delivery where created_at >= to_timestamp($1::double precision / 1000)",
    values: [startedAtMs],
  });
  const createdAtMs = new Map(rows.map(({ id, created_at }) => [id, Date.parse(created_at)]));
  return arrived().flatMap(({ id, atMs }) => {
    const rowAtMs = createdAtMs.get(id);
    return rowAtMs === undefined ? [] : [atMs - rowAtMs];
  });
}

function arrivals({ receivers }: Stage, fromMs: number): Arrival[] {
  return receivers.flatMap(({ received }) =>
    received
      .filter(({ atMs }) => atMs >= fromMs)
      .map(({ target, headers, atMs }) => ({
        endpoint: endpointOf(target),
        id: String(headers["x-tracker-delivery"]),
        atMs,
      })),
  );
}

const endpointOf = (target: string): number => Number(/^\/(\d+)/.exec(target)?.[1]);

async function addPostbacks({ pool, receivers }: Stage, workspaceId: number): Promise<void> {
  await pool.query({
    text: `insert into postback (workspace_id, offer_id, url)
           select $1, (select min(id) from offer),
             'http://127.0.0.1:' || port || '/' || n - 1 || '?c={conversion_id}&p={payout}&s={sub1}'
           from unnest($2::integer[]) with ordinality as u(port, n)`,
    values: [workspaceId, receivers.map(({ port }) => port)],
  });
  await pool.query({
    text: `insert into conversion (id, workspace_id, offer_id, affiliate_id, advertiser_id, event_id, event_code, is_private, status,
             revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, click_id, conv_ts, holds_click,
             holds_txid)
           select md5('conversion' || i)::uuid, o.workspace_id, o.id, (select min(id) from affiliate), o.advertiser_id, 1, 'default',
             false, 'approved', 15, 10, 'USD', 'cpa', 10, 'rpa', 15, 's2s', md5('click' || i), now(), false, false
           from generate_series(1, $1) i, (select * from offer order by id limit 1) o`,
    values: [CONVERSIONS],
  });
  await pool.query({ text: "analyze" });
}

/** Moves all endpoints to the host and port of the last one, as when many partners use one tracking vendor. */
async function moveToOnePort({ pool, receivers }: Stage): Promise<void> {
  await pool.query({
    text: "update postback set url = regexp_replace(url, ':\\d+/', ':' || $1::integer || '/')",
    values: [receivers.at(-1)?.port],
  });
}

/** Writes rows as a conversion does. */
async function addDeliveries(pool: Pool, toEach: number): Promise<void> {
  await pool.query({
    text: `insert into delivery (workspace_id, kind, endpoint_id, destination, conversion_id, trigger, facts)
           select p.workspace_id, 'postback', p.id, p.destination, md5('conversion' || 1 + i % $2::integer)::uuid, 'approved',
             '{"status": "approved", "reason": "", "payout": "10.0000", "sale_amount": "0.0000", "old_status": "",
               "old_payout": "0.0000", "payout_delta": "10.0000"}'
           from postback p, generate_series(1, $1::integer) i`,
    values: [toEach, CONVERSIONS],
  });
}

async function startProcessor(servers: BenchServers, folder: string): Promise<ChildServer> {
  const port = await freePort();
  const command = [process.execPath, projectFile(".build", "processors", "main.js")];
  return await ChildServer.start(command, `http://127.0.0.1:${port}/readyz`, {
    ...servers.env,
    ROLES: "delivery",
    OPS_PORT: String(port),
    LOG_LEVEL: "warn",
    DATA_DIR: join(folder, "processors"),
    ALLOW_PRIVATE_DESTINATIONS: "1",
  });
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { ApiKeys } from "../../api/access/api-keys.ts";
import { Cursors } from "../../api/operation/cursor.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { fillLists } from "../integration/api/list-fill.ts";
import { ChildServer } from "../system/child-server.ts";
import { freePort } from "../system/start-system.ts";
import { type BenchServers, startBenchServers } from "./bench-servers.ts";
import { fullLoad, isOnPath, type LoadFigures, pinned } from "./load-tools.ts";
import { type RestCase, restCases } from "./rest-cases.ts";
import { type BenchResult, quantile } from "./result.ts";

const ROUNDS = 5;
const SECONDS = 2;
/** The size of each server's pool, so that no request waits for a connection to Postgres. */
const CONNECTIONS = 16;
const ROWS = 20_000;
const BUDGET = 0.5;
const OFFERS_OF_MANY = 1_000_000;
const PAGE_ROWS = 50;
const PAGE_FAR = 10_000;
const PAGE_BUDGET = 1.5;

type Stage = {
  readonly pool: Pool;
  readonly api: ChildServer;
  readonly bare: ChildServer;
  readonly headers: Record<string, string>;
  readonly workspaceId: number;
  readonly key: string;
};

/** Requests a second for lists and records, against a bare Fastify route with the same statement; one process each. */
export async function benchRest(): Promise<BenchResult[]> {
  if (!isOnPath("wrk")) return [notMeasured("wrk is missing: apt-get install wrk")];
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const pool = openPool({
    url: servers.env["POSTGRES_URL"] ?? "",
    applicationName: "bench",
    statementTimeoutMs: 600_000,
  });
  const started: ChildServer[] = [];
  try {
    const key = servers.demo.keys.admin;
    const workspaceId = servers.demo.workspace_id;
    await fillLists(pool, await ownersIn(pool, workspaceId), { rows: ROWS, rowsOfLargest: ROWS });
    const cases = await restCases(pool, key);
    const bare = await startBare(servers, folder, cases);
    started.push(bare);
    const api = await startApi(servers);
    started.push(api);
    const headers = { authorization: `Bearer ${key}` };
    const stage = { pool, api, bare, headers, workspaceId, key };
    const results: BenchResult[] = [];
    for (const one of cases) results.push(await measure(stage, one));
    results.push(await measurePages(stage));
    return results;
  } finally {
    for (const server of started.reverse()) await server.end();
    await pool.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure({ api, bare, headers }: Stage, one: RestCase): Promise<BenchResult> {
  const ownUrl = new URL(`/api/v1${one.path}`, api.url).href;
  const bareUrl = new URL(one.barePath, bare.url).href;
  await load(ownUrl, headers);
  await load(bareUrl, {});
  const [own, base]: [LoadFigures[], LoadFigures[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    base.push(await load(bareUrl, {}));
    own.push(await load(ownUrl, headers));
  }
  // The ratio of each round: other work on the machine slows both sides of a pair alike.
  const ratio = median(
    own.map(
      ({ requestsPerSecond }, round) =>
        requestsPerSecond / (base[round]?.requestsPerSecond ?? Number.NaN),
    ),
  );
  return {
    name: `REST: ${one.name} (load ${(loadavg()[0] ?? 0).toFixed(1)})`,
    figure: formatMedians(own),
    baseline: formatMedians(base),
    ratio,
    budget: `>= ${BUDGET.toFixed(2)}`,
    ok: ratio >= BUDGET,
  };
}

/** The first page of a million offers against one from the middle, alternating. */
async function measurePages(stage: Stage): Promise<BenchResult> {
  const { pool, api, headers, workspaceId } = stage;
  await pool.query({
    text: `insert into offer (workspace_id, advertiser_id, code, name, destination_url, currency, created_at)
           select $1, (select min(id) from advertiser where workspace_id = $1), 'M' || i, 'Offer ' || i, 'https://x.example', 'USD',
             now() - interval '1 day' - i * interval '1 second'
           from generate_series(1, $2::integer) i`,
    values: [workspaceId, OFFERS_OF_MANY - ROWS],
  });
  await pool.query({
    text: `insert into offer_event (offer_id, code, name, is_default)
           select id, 'default', 'Default', true from offer o
           where not exists (select from offer_event e where e.offer_id = o.id)`,
  });
  await pool.query({ text: "vacuum analyze offer" });
  await pool.query({ text: "vacuum analyze offer_event" });
  const url = new URL(`/api/v1/offers?limit=${PAGE_ROWS}`, api.url);
  const far = new URL(url);
  far.searchParams.set("cursor", await farCursor(stage));
  await load(url.href, headers);
  await load(far.href, headers);
  const [first, later]: [LoadFigures[], LoadFigures[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    first.push(await load(url.href, headers));
    later.push(await load(far.href, headers));
  }
  const ratio = median(
    first.map(
      ({ requestsPerSecond }, round) =>
        requestsPerSecond / (later[round]?.requestsPerSecond ?? Number.NaN),
    ),
  );
  return {
    name: `page ${PAGE_FAR} of ${OFFERS_OF_MANY} offers against page 1: cost`,
    figure: formatMedians(later),
    baseline: formatMedians(first),
    ratio,
    budget: `<= ${PAGE_BUDGET.toFixed(2)}`,
    ok: ratio <= PAGE_BUDGET,
  };
}

async function farCursor({ pool, key }: Stage): Promise<string> {
  const { rows } = await pool.query<{ secret: string; at: string; id: number }>({
    text: `select i.secret, o.created_at as at, o.id from installation i, offer o where o.deleted_at is null
           order by o.created_at desc, o.id desc offset $1 limit 1`,
    values: [PAGE_ROWS * (PAGE_FAR - 1) - 1],
  });
  const found = await new ApiKeys(pool).find(key, Date.now());
  const [row] = rows;
  if (found === undefined || row === undefined) throw new Error(`no offer on page ${PAGE_FAR}`);
  const { principal } = found;
  const binding = { list: "listOffers", principal, query: {} };
  return new Cursors(row.secret).write(binding, { at: row.at, id: String(row.id) });
}

async function load(url: string, headers: Record<string, string>): Promise<LoadFigures> {
  const figures = await fullLoad(url, SECONDS, headers, CONNECTIONS);
  if (figures.failures > 0) throw new Error(`${figures.failures} requests of ${url} failed`);
  return figures;
}

async function startApi(servers: BenchServers): Promise<ChildServer> {
  const port = await freePort();
  const command = pinned(0, [process.execPath, projectFile(".build", "api", "main.js")]);
  return await ChildServer.start(command, `http://127.0.0.1:${port}/health`, {
    ...servers.env,
    API_PORT: String(port),
    RATE_LIMIT_PER_MINUTE: "1000000",
    LOG_LEVEL: "warn",
  });
}

async function startBare(
  servers: BenchServers,
  folder: string,
  cases: readonly RestCase[],
): Promise<ChildServer> {
  const port = await freePort();
  const path = join(folder, "routes.json");
  const routes = cases.map(({ barePath, statement }) => ({ path: barePath, ...statement }));
  await writeFile(path, JSON.stringify(routes));
  const script = projectFile(".build", "test", "bench", "bare-route.js");
  const command = pinned(0, [process.execPath, script, String(port), path]);
  return await ChildServer.start(command, `http://127.0.0.1:${port}/health`, servers.env);
}

const Owners = z.object({ affiliateId: z.int(), advertiserId: z.int() });

async function ownersIn(
  pool: Pool,
  workspaceId: number,
): Promise<{ workspaceId: number; affiliateId: number; advertiserId: number }> {
  const { rows } = await pool.query({
    text: `select (select min(id) from affiliate where workspace_id = $1) as "affiliateId",
             (select min(id) from advertiser where workspace_id = $1) as "advertiserId"`,
    values: [workspaceId],
  });
  return { workspaceId, ...Owners.parse(rows[0]) };
}

function formatMedians(rounds: readonly LoadFigures[]): string {
  const rate = median(rounds.map(({ requestsPerSecond }) => requestsPerSecond));
  const p50Ms = median(rounds.map((round) => round.p50Ms));
  const p99Ms = median(rounds.map((round) => round.p99Ms));
  return `${Math.round(rate)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
}

function median(values: number[]): number {
  return quantile(values, 0.5);
}

function notMeasured(figure: string): BenchResult {
  return { name: "REST", figure, baseline: "-", ratio: null, budget: "-", ok: null };
}

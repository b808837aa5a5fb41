import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ingressNodeCommand } from "../../deploy/local/private-glibc.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { openPool, type Pool } from "../../schemas/postgres/connect.ts";
import { ChildServer } from "../system/child-server.ts";
import { residentBytes } from "../system/processes.ts";
import { freePort } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { type BenchServers, benchReport, startBenchServers } from "./bench-servers.ts";
import { fillLargeCatalog, LARGE_CATALOG_COUNTS, pickLinks } from "./catalog-fill.ts";
import { isOnPath, pinned } from "./load-tools.ts";
import { type BenchResult, quantile } from "./result.ts";
import { prepareSpreadLoad, type SpreadLoad } from "./spread-load.ts";
import { madeUpVisitors } from "./visitors.ts";

const ROUNDS = 3;
const SECONDS = 4;
const LINKS = 20_000;
const CHANGES = 12;
const MEMORY_BUDGET_MB = 500;
const CHANGE_BUDGET_MS = 1_000;
/** Budgets of this bench. The demo's links have no targeting, caps or controls, and stay in the processor's cache. */
const RATE_BUDGET = 0.6;
const READY_BUDGET_MS = 15_000;
const LARGE_DATABASE = "large_catalog";

/**
 * What 20,000 offers, 50,000 partners and 500,000 access records cost an ingress: memory, start-up time, the time until a
 * change applies, and redirects a second over many links against the few links of the demo in the same run.
 */
export async function benchLargeCatalog(): Promise<BenchResult[]> {
  if (!isOnPath("wrk")) return [notMeasured("wrk is missing: apt-get install wrk")];
  const folder = await mkdtemp(join(tmpdir(), "tracker-bench-"));
  const servers = await startBenchServers(folder);
  const largeUrl = await copyDatabase(servers.env["POSTGRES_URL"] ?? "");
  const pools = [servers.env["POSTGRES_URL"] ?? "", largeUrl].map(benchPool);
  const started: Ingress[] = [];
  try {
    const [smallPool, largePool] = pools;
    if (smallPool === undefined || largePool === undefined) throw new Error("no pools");
    await fillLargeCatalog(largePool);
    const node = await ingressNodeCommand({
      runtimeDir: servers.runtimeDir,
      report: benchReport,
      ifMissing: "download",
    });
    const command = [node.command, ...node.args];
    const small = await startIngress(command, servers, { folder: join(folder, "small") });
    started.push(small);
    const site = { folder: join(folder, "large"), postgresUrl: largeUrl };
    const first = await startIngress(command, servers, site);
    started.push(first);
    const results = await measure({ small, large: first, smallPool, largePool, folder });
    await first.server.end();
    started.pop();
    const again = await startIngress(command, servers, site);
    started.push(again);
    return [...results, ...startResults(first, again)];
  } finally {
    for (const { server } of started.reverse()) await server.end();
    for (const pool of pools) await pool.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type Contenders = {
  readonly small: Ingress;
  readonly large: Ingress;
  readonly smallPool: Pool;
  readonly largePool: Pool;
  readonly folder: string;
};

async function measure(parts: Contenders): Promise<BenchResult[]> {
  const { small, large, smallPool, largePool, folder } = parts;
  const visitors = madeUpVisitors();
  const loads = {
    small: await prepareSpreadLoad(folder, {
      name: "small",
      links: await pickLinks(smallPool, LINKS),
      visitors,
    }),
    large: await prepareSpreadLoad(folder, {
      name: "large",
      links: await pickLinks(largePool, LINKS),
      visitors,
    }),
  };
  const loadedMb = residentBytes(large.server.pid) / 1024 ** 2;
  await loads.small.run(small.url, 2);
  await loads.large.run(large.url, 2);
  const rates = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.small.push(await rateOf(loads.small, small.url));
    rates.large.push(await rateOf(loads.large, large.url));
  }
  const changesMs = await changesUnderLoad(large, largePool, loads.large);
  const megabytes = residentBytes(large.server.pid) / 1024 ** 2;
  const [own, baseline] = [quantile(rates.large, 0.5), quantile(rates.small, 0.5)];
  return [
    {
      name: "ingress memory with the large catalog, after the load",
      figure: `${megabytes.toFixed(0)} MB (${loadedMb.toFixed(0)} MB when it was ready)`,
      baseline: `${(residentBytes(small.server.pid) / 1024 ** 2).toFixed(0)} MB with the demo's catalog`,
      ratio: null,
      budget: `<= ${MEMORY_BUDGET_MB} MB`,
      ok: megabytes <= MEMORY_BUDGET_MB,
      figures: { ingressResidentMb: megabytes },
    },
    {
      name: `redirects/s over ${LINKS} links of ${LARGE_CATALOG_COUNTS.offers} offers`,
      figure: `${Math.round(own)}/s`,
      baseline: `${Math.round(baseline)}/s over the demo's links`,
      ratio: own / baseline,
      budget: `>= ${RATE_BUDGET.toFixed(2)}`,
      ok: own / baseline >= RATE_BUDGET,
      figures: { largeCatalogRatio: own / baseline },
    },
    {
      name: "large catalog: from a change to the first redirect that uses it, under full load",
      figure: `p50 ${quantile(changesMs, 0.5).toFixed(0)} ms, longest ${Math.max(...changesMs).toFixed(0)} ms`,
      baseline: "-",
      ratio: null,
      budget: `<= ${CHANGE_BUDGET_MS} ms`,
      ok: Math.max(...changesMs) <= CHANGE_BUDGET_MS,
    },
  ];
}

async function rateOf(load: SpreadLoad, url: string): Promise<number> {
  const { requestsPerSecond, failures } = await load.run(url, SECONDS);
  if (failures > 0) throw new Error(`${failures} redirects failed`);
  return requestsPerSecond;
}

/** Milliseconds from the commit of a new destination to the first redirect that uses it. */
async function changesUnderLoad({ url }: Ingress, pool: Pool, load: SpreadLoad): Promise<number[]> {
  const [link] = await pickLinks(pool, 2);
  if (link === undefined) throw new Error("the catalog has no link");
  const timesMs: number[] = [];
  const background = load.run(url, CHANGES);
  for (let change = 0; change < CHANGES; change += 1) {
    const destination = `https://changed.example.com/${change}`;
    await pool.query({
      text: "update offer set destination_url = $2 where id = $1",
      values: [link.offerId, destination],
    });
    const committedAtMs = performance.now();
    await until(
      "the change applies to redirects",
      async () => {
        const answer = await fetch(`${url}${link.path}`, { redirect: "manual" });
        return answer.headers.get("location") === destination;
      },
      { pollMs: 5 },
    );
    timesMs.push(performance.now() - committedAtMs);
  }
  const { failures } = await background;
  if (failures > 0) throw new Error(`${failures} redirects failed while the catalog changed`);
  return timesMs;
}

function startResults(first: Ingress, again: Ingress): BenchResult[] {
  return [
    {
      name: "large catalog: from the start of the process to ready",
      figure: `${(first.readyMs / 1_000).toFixed(1)} s from Postgres, ${(again.readyMs / 1_000).toFixed(1)} s from the copy on disk`,
      baseline: "-",
      ratio: null,
      budget: `<= ${READY_BUDGET_MS / 1_000} s`,
      ok: Math.max(first.readyMs, again.readyMs) <= READY_BUDGET_MS,
    },
  ];
}

type Ingress = { readonly server: ChildServer; readonly url: string; readonly readyMs: number };

async function startIngress(
  node: readonly string[],
  servers: BenchServers,
  { folder, postgresUrl }: { readonly folder: string; readonly postgresUrl?: string },
): Promise<Ingress> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await mkdir(folder, { recursive: true });
  const command = pinned(0, [...node, projectFile(".build", "ingress", "main.js")]);
  const startedAtMs = performance.now();
  const server = await ChildServer.start(command, `${url}/health`, {
    ...servers.env,
    ...(postgresUrl === undefined ? {} : { POSTGRES_URL: postgresUrl }),
    DATA_DIR: folder,
    TRACKING_PORT: String(port),
    TRACKING_URL: url,
    TRUSTED_PROXIES: "127.0.0.1/32",
    LOG_LEVEL: "warn",
  });
  return { server, url, readyMs: performance.now() - startedAtMs };
}

/** A second database on the same server, a copy of the migrated first one. */
async function copyDatabase(url: string): Promise<string> {
  const pool = benchPool(withDatabase(url, "postgres"));
  try {
    const name = new URL(url).pathname.slice(1);
    await pool.query({ text: `create database ${LARGE_DATABASE} template ${name}` });
  } finally {
    await pool.end();
  }
  return withDatabase(url, LARGE_DATABASE);
}

function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.toString();
}

function benchPool(url: string): Pool {
  return openPool({
    url,
    applicationName: "bench",
    connectionsMax: 2,
    statementTimeoutMs: 300_000,
  });
}

function notMeasured(why: string): BenchResult {
  return {
    name: "large catalog",
    figure: why,
    baseline: "-",
    ratio: null,
    budget: "-",
    ok: null,
  };
}

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { VISIT_BYTES } from "../../processors/clicks/visits/visit-table.ts";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import { runtimeDir } from "../services/servers.ts";
import { freePort } from "../system/start-system.ts";
import { benchReport } from "./bench-servers.ts";
import type { BenchResult } from "./result.ts";
import { UniqueStart, UniqueTakes } from "./unique-results.ts";

/** BENCH_VISITS: the most visits of a lane. 100 million need 1.3 GB of memory, 4 GB of disk and 12 minutes. */
const VISITS_MAX = Number(process.env["BENCH_VISITS"] ?? 4_000_000);
const SIZES = [1_000_000, 4_000_000, 20_000_000, 100_000_000];
/** A Map takes at most 16.8 million keys. */
const MAP_MAX = 4_000_000;
/** Below this size the process itself is most of its memory. */
const VISITS_OF_BUDGET = 20_000_000;
const START_VISITS_PER_SECOND = 100_000_000 / 60;
const BLOCK_ROWS = 1_000_000;
const INSERT_TIMEOUT_S = 600;

/**
 * The memory of unique visits against a plain Map, and the time to read it from ClickHouse. The lane's clicks of 24 hours are all unique,
 * and one in fifty repeats the visit of the row before.
 */
const ROWS = `insert into click (workspace_id, ts, click_id, is_unique, offer_id, affiliate_id, visitor, _lane, _producer, _epoch, _position)
  with number - if(number % 50 = 1, 1, 0) as visit
  select 1 + visit % 7, now64(3) - toIntervalMillisecond(86000000 - toInt64(82800000. * (number - {from: UInt64}) / {rows: UInt64})),
    unhex(leftPad(lower(hex(number)), 32, '0')), 1, 4 * (1 + cityHash64(visit, 1) % 300), 1 + cityHash64(visit, 2) % 500,
    bitAnd(cityHash64(visit, 3), 4503599627370495), 0, 1, 1, number
  from numbers({first: UInt64}, {count: UInt64})`;

/** Beside the rights that the engine gives the service. */
const MAY_STOP_MERGES = `<clickhouse>
  <users><tracker><grants replace="replace"><query>GRANT ALL ON *.*</query></grants></tracker></users>
</clickhouse>
`;

export async function benchUniques(): Promise<BenchResult[]> {
  const sizes = SIZES.filter((size) => size <= VISITS_MAX);
  const results: BenchResult[] = [];
  for (const size of sizes) results.push(...(await takes(size)));
  return [...results, ...(await starts(sizes))];
}

async function takes(visits: number): Promise<BenchResult[]> {
  const measure = async (kind: "table" | "map"): Promise<UniqueTakes> =>
    UniqueTakes.parse(JSON.parse(await run("unique-takes", [kind, String(visits)])));
  const figure = await measure("table");
  const map = visits > MAP_MAX ? undefined : await measure("map");
  const line = (
    name: string,
    read: (of: UniqueTakes) => number,
    unit: string,
    digits = 0,
  ): BenchResult => ({
    name: `${millions(visits)}: ${name}`,
    figure: `${read(figure).toFixed(digits)} ${unit}`,
    baseline: map === undefined ? "-" : `${read(map).toFixed(digits)} ${unit} in a Map`,
    ratio: map === undefined ? null : read(figure) / read(map),
    budget: "-",
    ok: true,
  });
  const isLarge = visits >= VISITS_OF_BUDGET;
  const bytes = figure.bytes / visits;
  return [
    {
      ...line("memory a visit", (one) => one.bytes / visits, "bytes", 2),
      budget: isLarge ? `<= ${VISIT_BYTES} bytes` : "-",
      ok: !isLarge || bytes <= VISIT_BYTES,
    },
    line("growth of the process a visit", (one) => one.residentBytes / visits, "bytes", 2),
    line("take() of a new visit", (one) => one.newNs, "ns"),
    line("the same while as many expire", (one) => one.steadyNs, "ns"),
    line("take() of a repeated visit", (one) => one.repeatedNs, "ns"),
    line("longest 1,000 takes", (one) => one.pauseMs, "ms", 1),
    {
      ...line("the same when a quarter is forgotten", (one) => one.forgetMs, "ms", 0),
      baseline: "-",
      ratio: null,
    },
  ];
}

async function starts(sizes: readonly number[]): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-uniques-"));
  const users = join(folder, "clickhouse", "users.d");
  await mkdir(users, { recursive: true });
  await writeFile(join(users, "merges.xml"), MAY_STOP_MERGES);
  const server = await startClickhouse({
    dataDir: folder,
    runtimeDir: runtimeDir(),
    bind: "127.0.0.1",
    port: await freePort(),
    report: benchReport,
  });
  const requestTimeoutMs = INSERT_TIMEOUT_S * 1_000;
  const clickhouse = openClickhouse({
    url: server.url,
    applicationName: "bench",
    requestTimeoutMs,
  });
  try {
    await migrateClickhouse({ url: server.url });
    // Merges of the rows that were just inserted would take the processor from both sides.
    await clickhouse.command({ query: "system stop merges click" });
    const results: BenchResult[] = [];
    let stored = 0;
    for (const size of sizes) {
      await fill(clickhouse, stored, size);
      stored = size;
      results.push(start(size, await measureStart(server.url, size)));
    }
    return results;
  } finally {
    await clickhouse.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureStart(url: string, visits: number): Promise<UniqueStart> {
  return UniqueStart.parse(JSON.parse(await run("unique-start", [url, String(visits)])));
}

function start(rows: number, measured: UniqueStart): BenchResult {
  const { visits, seconds, processorSeconds, residentBytes, pauseMs } = measured;
  benchReport.note("uniques", JSON.stringify(measured));
  return {
    name: `${millions(rows)}: start from ClickHouse, ${(visits / 1e6).toFixed(1)} million different`,
    figure: `${seconds.toFixed(1)} s (${processorSeconds.toFixed(1)} s of processor), pause ${pauseMs.toFixed(0)} ms, ${(residentBytes / visits).toFixed(1)} bytes a visit`,
    baseline: "-",
    ratio: null,
    budget: `<= ${(rows / START_VISITS_PER_SECOND).toFixed(1)} s`,
    ok: seconds <= rows / START_VISITS_PER_SECOND,
  };
}

async function fill(clickhouse: Clickhouse, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, to - first);
    await clickhouse.command({
      query: ROWS,
      query_params: { from, rows: to - from, first, count },
      clickhouse_settings: {
        max_execution_time: INSERT_TIMEOUT_S,
        max_partitions_per_insert_block: "10",
        max_block_size: String(BLOCK_ROWS),
        min_insert_block_size_rows: String(BLOCK_ROWS),
      },
    });
    if ((first + count) % 10_000_000 === 0)
      benchReport.note("uniques", `${millions(first + count)} stored`);
  }
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const file = projectFile(".build", "test", "bench", `${program}.js`);
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args]);
  return stdout;
}

function millions(visits: number): string {
  return `${visits / 1e6} million`;
}

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SegmentBuilder } from "../../processors/clicks/intake/segment-builder.ts";
import { insertRows } from "../../processors/clicks/lane/insert-rows.ts";
import type { Segment } from "../../processors/clicks/rows/batch.ts";
import { CLICK_TABLE } from "../../processors/clicks/rows/lane-table.ts";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { encodeBatch } from "../../schemas/events/click-batch.ts";
import { connectNats } from "../../schemas/nats/connect.ts";
import { ensureStreams } from "../../schemas/nats/streams.ts";
import { startBenchServers } from "./bench-servers.ts";
import { type BenchResult, quantile } from "./result.ts";

const ROUNDS = 3;
const ROWS = 400_000;
const ROWS_MEASURED = 0.9 * ROWS;
const RECORDS_PER_MESSAGE = 256;
const ROWS_PER_INSERT = 50_000;
const PUBLISHES_AT_ONCE = 64;
/** A lane that no writer owns. */
const BASELINE_LANE = 99;
const BUDGET = 0.7;
const DEADLINE_MS = 120_000;

/**
 * Rows a second that one lane's writer stores from a full stream. The baseline is the same rows, already serialised, inserted by the
 * same client with the same statement and batch size.
 */
export async function run(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-writer-"));
  const servers = await startBenchServers(folder);
  try {
    return [await measure(servers.env, join(folder, "processors"))];
  } finally {
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Uses the migrated servers of `env`. */
async function measure(env: Record<string, string>, dataDir: string): Promise<BenchResult> {
  const clickhouse = openClickhouse({
    url: env["CLICKHOUSE_URL"] ?? "",
    applicationName: "bench",
  });
  try {
    const lines = Array.from({ length: ROWS }, (_, index) => benchLine(index));
    const rates = { baseline: [] as number[], figure: [] as number[], ratio: [] as number[] };
    for (let round = 1; round <= ROUNDS; round += 1) {
      const prefix = `bench${randomBytes(4).toString("hex")}`;
      await fillStream(env["NATS_URL"] ?? "", prefix, { lines, producer: round });
      const baseline = await insertSerialised(clickhouse, lines, round);
      const own = { ...env, NATS_PREFIX: prefix, DATA_DIR: dataDir };
      const figure = await runWriter(clickhouse, own, round);
      rates.baseline.push(baseline);
      rates.figure.push(figure);
      rates.ratio.push(figure / baseline);
    }
    // The median of pairs measured right after each other, because the machine's other work changes from round to round.
    const ratio = quantile(rates.ratio, 0.5);
    return {
      name: "click writer, rows/s of one lane, median of three rounds",
      figure: `${Math.round(quantile(rates.figure, 0.5))}/s`,
      baseline: `${Math.round(quantile(rates.baseline, 0.5))}/s for the same rows, already serialised`,
      ratio,
      budget: `>= ${BUDGET.toFixed(2)}`,
      ok: ratio >= BUDGET,
      figures: {
        writerRowsPerSecond: quantile(rates.figure, 0.5),
        insertedRowsPerSecond: quantile(rates.baseline, 0.5),
      },
    };
  } finally {
    await clickhouse.close();
  }
}

/** `round` becomes the epoch of the rows, so that each round inserts different rows. */
export async function insertSerialised(
  clickhouse: Clickhouse,
  lines: readonly string[],
  round: number,
): Promise<number> {
  await clickhouse.insert({
    table: "lane_fence",
    values: [{ lane: BASELINE_LANE, epoch: 1 }],
    format: "JSONEachRow",
  });
  const inserts: Segment[] = [];
  for (let from = 0; from < lines.length; from += ROWS_PER_INSERT) {
    const page = lines.slice(from, from + ROWS_PER_INSERT);
    const lineBytes = page.reduce((sum, line) => sum + line.length, 0);
    const builder = new SegmentBuilder(
      { producer: 1, epoch: round },
      { readAtMs: 0, lineBytes, rows: page.length },
    );
    for (const [index, line] of page.entries()) {
      builder.add(line, { position: from + index, month: 0, ts: 0 }, true);
    }
    const segment = builder.finish();
    if (segment !== undefined) inserts.push(segment);
  }
  const startedAtMs = performance.now();
  for (const segment of inserts) {
    const token = randomBytes(8).toString("hex");
    const insert = { table: CLICK_TABLE, lane: BASELINE_LANE, writerEpoch: 1, token };
    const { signal } = new AbortController();
    const limits = { timeoutMs: 30_000, signal, layout: "single" } as const;
    await insertRows(clickhouse, { ...insert, ...limits, queryId: `bench-${token}` }, [segment]);
  }
  return lines.length / ((performance.now() - startedAtMs) / 1_000);
}

async function fillStream(
  url: string,
  prefix: string,
  { lines, producer }: { readonly lines: readonly string[]; readonly producer: number },
): Promise<void> {
  const nats = await connectNats({ url, prefix, name: "bench" });
  try {
    await ensureStreams(nats);
    let waiting: Promise<unknown>[] = [];
    for (let first = 0; first < lines.length; first += RECORDS_PER_MESSAGE) {
      const batch = {
        lane: 0,
        producer,
        epoch: 1,
        first,
        at: Date.now(),
        lines: lines.slice(first, first + RECORDS_PER_MESSAGE),
      };
      waiting.push(nats.jetstream.publish(nats.subjects.clicks(0), encodeBatch(batch)));
      if (waiting.length < PUBLISHES_AT_ONCE) continue;
      await Promise.all(waiting);
      waiting = [];
    }
    await Promise.all(waiting);
  } finally {
    await nats.connection.drain();
  }
}

async function runWriter(
  clickhouse: Clickhouse,
  env: Record<string, string>,
  producer: number,
): Promise<number> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "..", "..", "processors", "main.js")],
    {
      env: {
        DURABILITY: "relaxed",
        ...process.env,
        ...env,
        ROLES: "clicks",
        LOG_LEVEL: "info",
        OPS_PORT: "0",
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    await untilLogged(
      child,
      (line) => line.includes('"clicks.lane-open"') && line.includes('"lane":0,'),
    );
    const startedAtMs = performance.now();
    for (;;) {
      const answer = await clickhouse.query({
        query: `select count() as rows from click
          where _lane = 0 and _producer = {producer: UInt16} and _epoch = 1`,
        query_params: { producer },
        format: "JSONEachRow",
      });
      const [row] = await answer.json<{ rows: number }>();
      const tookMs = performance.now() - startedAtMs;
      // The last rows wait for others to join their insert, which is not the writer's speed.
      if (row !== undefined && row.rows >= ROWS_MEASURED) return row.rows / (tookMs / 1_000);
      if (tookMs > DEADLINE_MS)
        throw new Error(`the writer stored ${row?.rows ?? 0} of ${ROWS} rows`);
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
  }
}

async function untilLogged(child: ChildProcess, holds: (line: string) => boolean): Promise<void> {
  if (child.stdout === null) throw new Error("the writer has no output");
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => {
      reject(new Error(`the writer ended with ${String(code)}`));
    });
    lines.on("line", (line) => {
      if (holds(line)) resolve();
    });
  });
}

/** A click record as ingress writes it for a visitor with a desktop browser who clicked a search ad. */
export function benchLine(index: number): string {
  const ts = Date.now();
  const id = `${ts.toString(16).padStart(12, "0")}000001${index.toString(16).padStart(10, "0")}abcd`;
  return JSON.stringify({
    click_id: id,
    ts,
    workspace_id: 1,
    link_type: "affiliate",
    status: "redirect",
    offer_id: 4 * (1 + (index % 50)),
    advertiser_id: 3,
    affiliate_id: 1 + (index % 200),
    may_be_unique: true,
    ip: `203.0.113.${index % 255}`,
    visitor: (index * 7_919) % 1_000_003,
    user_agent:
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    referrer: `https://www.example.com/articles/${index % 5_000}?page=2`,
    referrer_host: "www.example.com",
    language: "en",
    country: ["US", "DE", "BR", "IN"][index % 4],
    region: "CA",
    city: "San Francisco",
    asn: 64_500 + (index % 30),
    as_name: "Example Networks",
    device_type: "desktop",
    os: "Windows",
    os_version: "10",
    browser: "Chrome",
    browser_version: "141",
    traffic_source: "google",
    source_id: `placement-${index % 300}`,
    sub1: `creative-${index % 40}`,
    sub2: `ref-${index}`,
    gclid: `EAIaIQobChMI${index}`,
    ext_campaign_id: `${20_000 + (index % 60)}`,
    domain: "trk.example.com",
    destination: `https://shop.example.com/landing?cid=${id}`,
    currency: "USD",
    catalog_version: 12,
  });
}

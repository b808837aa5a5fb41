import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { SharedPages } from "../../api/http/slots/shared-pages.ts";
import { type CompiledReport, compileReport } from "../../api/reports/compile-report.ts";
import { parseReportRequest } from "../../api/reports/report-request.ts";
import { startClickhouse } from "../../deploy/local/embedded-clickhouse.ts";
import { type Clickhouse, openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { migrateClickhouse } from "../../schemas/clickhouse/migrate.ts";
import { runtimeDir } from "../services/servers.ts";
import { pause } from "../system/service.ts";
import { freePort } from "../system/start-system.ts";
import { benchReport } from "./bench-servers.ts";
import { fillMonth } from "./click-fill.ts";
import { benchLine, insertSerialised } from "./click-writer.ts";
import { type BenchResult, quantile } from "./result.ts";

/** BENCH_CLICKS: the number of clicks in the month. The budgets apply to 100 million. */
const CLICKS = Number(process.env["BENCH_CLICKS"] ?? 2_000_000);
const CLICKS_OF_BUDGET = 100_000_000;
const ROUNDS = 7;
const ROUNDS_BY_ROWS = 3;
const ANALYSTS = 10;
const INGEST_ROUNDS = 12;
const INGEST_ROWS = 100_000;
const MERGES_MS = 600_000;
const BYTES_PER_CLICK = 60;

/** Keeps every row, but forces each to be judged by its own date, so that the baseline is not assembled from days of UTC. */
const BY_DATE = "date:not_in:2000-01-01";

type Case = {
  readonly title: string;
  readonly group_by: string;
  readonly tz: string;
  /** Filters of the baseline statement. */
  readonly filters?: readonly string[];
};
const CASES: readonly [Case, ...Case[]] = [
  { title: "offer, partner, country", group_by: "offer,affiliate,country", tz: "UTC" },
  { title: "country, device, OS", group_by: "country,device_type,os", tz: "UTC" },
  {
    title: "campaign, ad group, offer",
    group_by: "ext_campaign_id,ext_adgroup_id,offer",
    tz: "UTC",
  },
  { title: "date, offer, country", group_by: "date,offer,country", tz: "UTC" },
  {
    title: "date, offer, country, New York",
    group_by: "date,offer,country",
    tz: "America/New_York",
  },
  { title: "date, offer, country, India", group_by: "date,offer,country", tz: "Asia/Kolkata" },
  {
    title: "date, campaign, offer, New York",
    group_by: "date,ext_campaign_id,offer",
    tz: "America/New_York",
    filters: [BY_DATE],
  },
];
/** With {@link CASES}, one question for each of ten analysts. */
const FURTHER_CASES: readonly Case[] = [
  { title: "offer, country", group_by: "offer,country", tz: "UTC" },
  { title: "affiliate, offer", group_by: "affiliate,offer", tz: "UTC" },
  { title: "date", group_by: "date", tz: "UTC" },
];
const Count = z.array(z.object({ count: z.number() }));
const Named = z.array(z.object({ name: z.string() })).min(1);
const Size = z.array(z.object({ name: z.string(), bytes: z.number() }));

/** Reports on a month of clicks by three dimensions: the statements of the API against the same statements row by row. */
export async function benchReports(): Promise<BenchResult[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-reports-"));
  const server = await startClickhouse({
    dataDir: folder,
    runtimeDir: runtimeDir(),
    bind: "127.0.0.1",
    port: await freePort(),
    report: benchReport,
  });
  const clickhouse = openClickhouse({
    url: server.url,
    applicationName: "bench",
    requestTimeoutMs: 900_000,
    connectionsMax: ANALYSTS + 2,
  });
  try {
    await migrateClickhouse({ url: server.url });
    await fillMonth(clickhouse, CLICKS, (text) => benchReport.note("reports", text));
    await settled(clickhouse);
    await writeProjections(clickhouse);
    const results: BenchResult[] = [];
    for (const one of CASES) results.push(await againstRows(clickhouse, one));
    const equal = Array.from({ length: ANALYSTS }, () => statement(CASES[0]));
    const different = [...CASES, ...FURTHER_CASES].map((one) => statement(one));
    results.push(
      await tenAtOnce(clickhouse, { title: "one question", of: equal, budget: 5 }),
      await tenAtOnce(clickhouse, { title: "different questions", of: different, budget: 8 }),
      await underIngest(clickhouse),
    );
    return [...results, await diskSize(clickhouse)];
  } finally {
    await clickhouse.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function statement({ group_by, tz }: Case, filters: readonly string[] = []): CompiledReport {
  const scope = { role: "staff", workspaceId: 1 } as const;
  const request = parseReportRequest(
    { group_by, tz, from: "2026-10-01", to: "2026-10-31", filters: [...filters] },
    { role: "staff", nowMs: 0, workspaceTimezone: "UTC", workspaceCurrency: "USD" },
  );
  return compileReport({ ...request, scope, managers: undefined, costRates: undefined }, undefined);
}

/** Runs the statement and reads all rows. Returns milliseconds. */
async function timeQuery(
  clickhouse: Clickhouse,
  { text, params }: CompiledReport,
  byRows = false,
): Promise<number> {
  const startedAtMs = performance.now();
  const answer = await clickhouse.query({
    query: text,
    query_params: params,
    format: "JSON",
    clickhouse_settings: { optimize_use_projections: byRows ? 0 : 1 },
  });
  await answer.json();
  return performance.now() - startedAtMs;
}

async function againstRows(clickhouse: Clickhouse, one: Case): Promise<BenchResult> {
  const report = statement(one);
  const byRows = statement(one, one.filters);
  await timeQuery(clickhouse, report);
  const own: number[] = [];
  const rows: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    own.push(await timeQuery(clickhouse, report));
    if (round < ROUNDS_BY_ROWS) rows.push(await timeQuery(clickhouse, byRows, true));
  }
  const figure = quantile(own, 0.5);
  const baseline = quantile(rows, 0.5);
  const ratio = baseline / figure;
  const isFull = CLICKS >= CLICKS_OF_BUDGET;
  return {
    name: `${CLICKS / 1e6} million clicks by ${one.title}`,
    figure: `${figure.toFixed(0)} ms, longest of ${ROUNDS} ${Math.max(...own).toFixed(0)} ms`,
    baseline: `row by row ${baseline.toFixed(0)} ms`,
    ratio,
    budget: isFull ? "<= 1 s and >= 10" : "at 100 million",
    ok: isFull ? figure <= 1_000 && ratio >= 10 : null,
  };
}

/** Ten analysts who ask at the same moment, each for one report, through what the API shares among them. */
async function tenAtOnce(
  clickhouse: Clickhouse,
  { title, of, budget }: { title: string; of: readonly CompiledReport[]; budget: number },
): Promise<BenchResult> {
  const pages = new SharedPages(clickhouse);
  const ask = async (report: CompiledReport): Promise<number> => {
    const startedAtMs = performance.now();
    await pages.readerUntil(new AbortController().signal)({ name: "api.report", ...report });
    return performance.now() - startedAtMs;
  };
  const alone: number[] = [];
  const together: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const report of of) alone.push(await ask(report));
    together.push(...(await Promise.all(of.map(ask))));
  }
  const [one, all] = [quantile(alone, 0.5), quantile(together, 0.5)];
  return {
    name: `${of.length} analysts at once, ${title}, median report`,
    figure: `${all.toFixed(0)} ms`,
    baseline: `one alone ${one.toFixed(0)} ms`,
    ratio: all / one,
    budget: `<= ${budget.toFixed(2)}`,
    ok: all <= budget * one,
  };
}

/** Report times while the writer's own insert is repeated without a pause. */
async function underIngest(clickhouse: Clickhouse): Promise<BenchResult> {
  const report = statement(CASES[0]);
  const calm: number[] = [];
  for (let round = 0; round < INGEST_ROUNDS; round += 1)
    calm.push(await timeQuery(clickhouse, report));
  const lines = Array.from({ length: INGEST_ROWS }, (_, index) => benchLine(index));
  let running = true;
  const rates: number[] = [];
  const ingest = (async () => {
    for (let epoch = 2; running; epoch += 1)
      rates.push(await insertSerialised(clickhouse, lines, epoch));
  })();
  const busy: number[] = [];
  for (let round = 0; round < INGEST_ROUNDS; round += 1)
    busy.push(await timeQuery(clickhouse, report));
  running = false;
  await ingest;
  const before = quantile(calm, 0.5);
  const during = quantile(busy, 0.5);
  return {
    name: `median report while ${Math.round(quantile(rates, 0.5) / 1_000)} thousand clicks/s are stored`,
    figure: `${during.toFixed(0)} ms`,
    baseline: `calm ${before.toFixed(0)} ms`,
    ratio: during / before,
    budget: "<= 2.00",
    ok: during <= 2 * before,
  };
}

async function diskSize(clickhouse: Clickhouse): Promise<BenchResult> {
  const answer = await clickhouse.query({
    query: `select sum(bytes_on_disk) / sum(rows) as count from system.parts
      where database = currentDatabase() and table = 'click' and active and partition = '202610'`,
    format: "JSONEachRow",
  });
  const bytes = Count.parse(await answer.json())[0]?.count ?? Number.NaN;
  const columns = await clickhouse.query({
    query: `select column as name, sum(column_data_compressed_bytes) / sum(rows) as bytes from system.parts_columns
      where database = currentDatabase() and table = 'click' and active and partition = '202610'
      group by column order by bytes desc limit 8`,
    format: "JSONEachRow",
  });
  const largest = Size.parse(await columns.json());
  benchReport.note(
    "reports",
    `bytes a click: ${largest.map((one) => `${one.name} ${one.bytes.toFixed(1)}`).join(", ")}`,
  );
  return {
    name: "bytes on disk a click, rollups included",
    figure: bytes.toFixed(1),
    baseline: "-",
    ratio: null,
    budget: `<= ${BYTES_PER_CLICK} (aim)`,
    ok: bytes <= BYTES_PER_CLICK,
    figures: { storedBytesPerClick: bytes },
  };
}

/**
 * The first merge of a part writes its rollups. The service inserts small parts, which are merged within seconds; the last ones of the
 * fill have a million rows each and wait for others.
 */
async function writeProjections(clickhouse: Clickhouse): Promise<void> {
  const answer = await clickhouse.query({
    query:
      "select name from system.projections where database = currentDatabase() and table = 'click'",
    format: "JSONEachRow",
  });
  const names = Named.parse(await answer.json()).map(({ name }) => name);
  await clickhouse.command({
    query: `alter table click ${names.map((name) => `materialize projection ${name}`).join(", ")}`,
    clickhouse_settings: { mutations_sync: "1" },
  });
}

/** Waits until no merges are left: most queries of a month come after its merges, not during them. */
async function settled(clickhouse: Clickhouse): Promise<void> {
  const deadlineMs = performance.now() + MERGES_MS;
  for (let quiet = 0; quiet < 5 && performance.now() < deadlineMs; ) {
    const answer = await clickhouse.query({
      query: "select count() as count from system.merges",
      format: "JSONEachRow",
    });
    const merging = Count.parse(await answer.json())[0]?.count ?? 0;
    quiet = merging === 0 ? quiet + 1 : 0;
    await pause(500);
  }
}

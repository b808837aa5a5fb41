import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { openPool, type Pool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { findProcesses, type Job, residentBytes } from "../../system/processes.ts";
import { serversOf } from "../../system/servers-of.ts";
import { pause, type ServiceClient } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const MINUTE_MS = 60_000;
/** SOAK_MINUTES=480 is for runs by hand. */
const SOAK_MS = Number(process.env["SOAK_MINUTES"] ?? (IS_FULL ? 30 : 0.5)) * MINUTE_MS;
/** Includes the start of the service and the draining at the end. */
const TIMEOUT_MS = SOAK_MS + 5 * MINUTE_MS;
const SAMPLE_MS = Math.max(1_000, SOAK_MS / 120);
/** Share of the run in which caches and compiled code still grow. */
const WARM_UP_SHARE = 1 / 3;
const CLICKS_PER_SECOND = IS_FULL ? 200 : 100;
/** One click in this many is converted. */
const CLICKS_PER_CONVERSION = 10;
const REPORT_EVERY_MS = 2_000;

const SLOPE_PER_MS = 10 * MINUTE_MS;
/** In less than 20 minutes, the garbage collector affects the slope more than a leak would. */
const SLOPE_MAX = SOAK_MS < 20 * MINUTE_MS ? Number.POSITIVE_INFINITY : 0.01;
const RSS_BYTES_MAX = 700 * 1024 ** 2;
const ACTIVE_PARTS_MAX = 300;
const DEAD_TUPLES_MAX = 20_000;
const SEGMENTS_MAX = 2;

const JOBS: readonly Job[] = ["ingress", "processors", "api"];

type Sample = {
  readonly atMs: number;
  readonly rss: ReadonlyMap<Job, number>;
  readonly parts: number;
  readonly deadTuples: number;
};

test("under steady traffic memory, parts and dead tuples stay bounded and journals drain (P36, #24)", {
  timeout: TIMEOUT_MS,
}, async (context) => {
  await using system = await startSystem();
  const { client, dataDir } = system;
  const urls = await serversOf({ dataDir });
  const pool = openPool({ url: urls.postgres, applicationName: "test", connectionsMax: 1 });
  const clickhouse = openClickhouse({ url: urls.clickhouse, applicationName: "test" });
  try {
    const pids = await pidsOf(dataDir);
    const endMs = Date.now() + SOAK_MS;
    const traffic = send(client, endMs);
    const samples: Sample[] = [];
    while (Date.now() < endMs) {
      samples.push(await sample(pids, pool, clickhouse));
      await pause(SAMPLE_MS);
    }
    const { clicks, failed } = await traffic;
    expect(await pidsOf(dataDir), "no process was restarted").toEqual(pids);
    const steady = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
    const found = JOBS.map((job) => ({ job, ...memoryOf(steady, job) }));
    const parts = Math.max(...samples.map((one) => one.parts));
    const deadTuples = Math.max(...steady.map((one) => one.deadTuples));
    process.stdout.write(
      `P36: ${clicks} clicks in ${SOAK_MS / MINUTE_MS} min; ${found
        .map(({ job, bytes, slope }) => `${job} ${megabytes(bytes)}, ${percent(slope)} per 10 min`)
        .join("; ")}; at most ${parts} parts, ${deadTuples} dead tuples of outboxes\n`,
    );
    reportCases(context, { cases: clicks, violations: failed });
    expect(failed, "requests without the answer they should have").toBe(0);
    expect(found.filter(({ bytes }) => bytes > RSS_BYTES_MAX)).toEqual([]);
    expect(found.filter(({ slope }) => slope > SLOPE_MAX)).toEqual([]);
    expect(parts).toBeLessThan(ACTIVE_PARTS_MAX);
    expect(deadTuples).toBeLessThan(DEAD_TUPLES_MAX);
    await until("the journals are drained", () => segmentsLeft(dataDir) < SEGMENTS_MAX, {
      timeoutMs: MINUTE_MS,
      pollMs: 500,
    });
  } finally {
    await pool.end();
    await clickhouse.close();
  }
});

async function pidsOf(dataDir: string): Promise<ReadonlyMap<Job, readonly number[]>> {
  const found = JOBS.map(async (job) => [job, await findProcesses(dataDir, job)] as const);
  return new Map(await Promise.all(found));
}

/** Sends clicks at a steady rate, a conversion for some of them, and reads reports at the same time. */
async function send(
  client: ServiceClient,
  endMs: number,
): Promise<{ clicks: number; failed: number }> {
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  const startedMs = Date.now();
  const counts = { clicks: 0, failed: 0 };
  const visit = async (number: number): Promise<void> => {
    const headers = { "user-agent": `Mozilla/5.0 (X11; Linux x86_64) Firefox/${number % 150}.0` };
    const click = await client.attempt(`${link}?sub1=soak&sub2=${number}`, headers);
    const id = /trk_cid=([0-9a-f]{32})/.exec(String(click.headers["set-cookie"]))?.[1];
    if (id === undefined) counts.failed += 1;
    else if (number % CLICKS_PER_CONVERSION === 0) {
      const { tracking_url: tracking, postback_token: token } = client.demo;
      const answer = await client.attempt(
        `${tracking}/pb?token=${token}&click_id=${id}&txid=soak-${number}`,
      );
      if (!answer.body.includes('"ok":true')) counts.failed += 1;
    }
  };
  const analyst = (async () => {
    while (Date.now() < endMs) {
      await client.rest("/reports?preset=today&group_by=offer,country");
      await pause(REPORT_EVERY_MS);
    }
  })();
  const underWay = new Set<Promise<void>>();
  while (Date.now() < endMs) {
    const due = ((Date.now() - startedMs) * CLICKS_PER_SECOND) / 1_000;
    // A machine that cannot keep up gets fewer requests a second, never more than 64 at once.
    while (counts.clicks < due && underWay.size < 64) {
      counts.clicks += 1;
      const one = visit(counts.clicks).finally(() => underWay.delete(one));
      underWay.add(one);
    }
    await pause(5);
  }
  await Promise.all([...underWay, analyst]);
  return counts;
}

async function sample(
  pids: ReadonlyMap<Job, readonly number[]>,
  pool: Pool,
  clickhouse: Clickhouse,
): Promise<Sample> {
  const answer = await clickhouse.query({
    query:
      "select count() as parts from system.parts where active and database = currentDatabase()",
    format: "JSONEachRow",
  });
  const [{ parts } = { parts: 0 }] = z
    .array(z.object({ parts: z.coerce.number() }))
    .parse(await answer.json());
  const { rows } = await pool.query<{ dead: number }>({
    text: "select coalesce(max(n_dead_tup), 0)::integer as dead from pg_stat_user_tables where relname like '%outbox'",
  });
  const rss = [...pids].map(
    ([job, ids]) => [job, ids.reduce((sum, pid) => sum + residentBytes(pid), 0)] as const,
  );
  return { atMs: Date.now(), rss: new Map(rss), parts, deadTuples: rows[0]?.dead ?? 0 };
}

/** The mean memory, and its growth in 10 minutes as a share of the mean, by least squares. */
function memoryOf(samples: readonly Sample[], job: Job): { bytes: number; slope: number } {
  const points = samples.map(({ atMs, rss }) => ({ x: atMs, y: rss.get(job) ?? 0 }));
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map((one) => one.x)), mean(points.map((one) => one.y))];
  const spread = points.reduce((sum, one) => sum + (one.x - x) ** 2, 0);
  const rise = points.reduce((sum, one) => sum + (one.x - x) * (one.y - y), 0);
  return { bytes: y, slope: ((rise / spread) * SLOPE_PER_MS) / y };
}

/** The most segments of any producer that still hold records. */
function segmentsLeft(dataDir: string): number {
  const journal = join(dataDir, "journal");
  if (!existsSync(journal)) return 0;
  const counts = readdirSync(journal)
    .filter((name) => /^\d+$/.test(name))
    .map(
      (producer) =>
        readdirSync(join(journal, producer)).filter(
          (name) => name.endsWith(".wal") && hasRecords(join(journal, producer, name)),
        ).length,
    );
  return Math.max(0, ...counts);
}

/** Reserved space reads as zeros. */
function hasRecords(path: string): boolean {
  return readFileSync(path).some((byte) => byte !== 0);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

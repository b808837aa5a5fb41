import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { findProcesses, type Job, killJob } from "../../system/processes.ts";
import type { HttpAnswer, ServiceClient } from "../../system/service.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const PIXELS = IS_FULL ? 200 : 8;
const USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0";
const OUTAGE = "error: temporarily unavailable";
/** Longer than the longest pause between two rounds in which ingress sends pixels again, plus one round. */
const LATER_MS = 60_000;
const Page = z.object({
  data: z.array(
    z.object({
      adv_txid: z.string().nullable(),
      is_duplicate: z.boolean(),
      method: z.string(),
      conv_ts: z.string(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

let system: System;
let client: ServiceClient;
let run = 0;

beforeAll(async () => {
  system = await startSystem();
  ({ client } = system);
});
afterAll(() => system[Symbol.asyncDispose]());

/** Each outage stops the processes of a job, as on a machine that hangs: they still exist but answer nothing. */
const OUTAGES: readonly { readonly name: string; readonly jobs: readonly Job[] }[] = [
  { name: "Postgres does not answer", jobs: ["postgres"] },
  { name: "NATS does not answer", jobs: ["nats"] },
  { name: "no conversion processor answers", jobs: ["processors"] },
];

test.for(OUTAGES)(
  "$name: /pb is 503, a pixel is 200 and counted once later, through kill -9 (P15, PX-003)",
  async ({ jobs }, context) => {
    const name = nextRun();
    const clicks = await Promise.all(Array.from({ length: PIXELS }, () => click()));
    const late = clicks.slice(0, -2);
    const [, ofPostback = ""] = clicks.slice(-2);
    const resume = await holdStill(jobs);
    const before = Date.now();
    let after = 0;
    try {
      const answers = await Promise.all([
        postback(ofPostback, `${name}-pb`),
        ...late.map((clickId, number) => pixel(clickId, `${name}-${number}`)),
      ]);
      after = Date.now();
      const [outage, ...images] = answers;
      expect(outage).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
      expect(outage?.body).toBe('{"ok":false,"error":"temporarily unavailable"}');
      expect(images.map(outcomeOf)).toEqual(late.map(() => [200, "image/gif", OUTAGE]));
      expect(waitingFiles().length).toBeGreaterThan(0);
      await killIngress();
    } finally {
      resume();
    }
    const wanted = late.map((_, number) => `${name}-${number}`);
    const rows = await untilCounted(name, wanted.length);
    expect(rows).toHaveLength(wanted.length);
    expect(new Set(rows.map(({ adv_txid }) => adv_txid))).toEqual(new Set(wanted));
    expect(rows.filter(({ is_duplicate }) => is_duplicate)).toEqual([]);
    reportCases(context, { cases: wanted.length, violations: 0 });
    for (const { conv_ts } of rows) {
      expect(Date.parse(conv_ts)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(conv_ts)).toBeLessThanOrEqual(after);
    }
    await until("no pixel is left on the disk", () => waitingFiles().length === 0, {
      timeoutMs: 90_000,
    });
    await until(
      "the repeated postback is accepted",
      async () => (await postback(ofPostback, `${name}-pb`)).status === 200,
    );
  },
);

test("while ClickHouse hangs, /pb of an old click is 503, a pixel is counted later (P15, G162)", async () => {
  const name = nextRun();
  const clickId = await click();
  await storedInClickhouse(clickId);
  // A new writer has no earlier click in memory, so it must query ClickHouse.
  const resume = await holdStill(["clickhouse"]);
  try {
    await killJob(system.dataDir, "processors");
    await until("the processors answer and find no click", async () => {
      const { status, body } = await postback("0".repeat(32), "nobody");
      return status === 200 && body.includes("unknown click");
    });
    const [outage, image] = await Promise.all([
      postback(clickId, `${name}-pb`),
      pixel(clickId, `${name}-px`),
    ]);
    expect(outage).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect(outcomeOf(image)).toEqual([200, "image/gif", OUTAGE]);
    await killIngress();
  } finally {
    resume();
  }
  expect((await untilCounted(name, 1)).map(({ adv_txid }) => adv_txid)).toEqual([`${name}-px`]);
});

function nextRun(): string {
  run += 1;
  return `p15-${Date.now().toString(36)}-${run}`;
}

/** A new click, as soon as the ingress runs: the test before may have killed it. */
async function click(): Promise<string> {
  return await until("a click is answered", tryClick);
}

async function tryClick(): Promise<string> {
  const link = client.demo.links.affiliate.replace(/\?.*/, "");
  const answer = await client.attempt(link, { "user-agent": USER_AGENT });
  const id = /trk_cid=([0-9a-f]{32})/.exec(String(answer.headers["set-cookie"]))?.[1];
  if (id === undefined) throw new Error(`no click: ${answer.status} ${answer.body}`);
  return id;
}

async function postback(clickId: string, order: string): Promise<HttpAnswer> {
  const { tracking_url: url, postback_token: token } = client.demo;
  return await client.attempt(`${url}/pb?token=${token}&click_id=${clickId}&txid=${order}`);
}

async function pixel(clickId: string, order: string): Promise<HttpAnswer> {
  return await client.attempt(`${client.demo.tracking_url}/px?click_id=${clickId}&txid=${order}`);
}

function outcomeOf({ status, headers }: HttpAnswer): unknown[] {
  return [status, headers["content-type"], headers["x-tracker-conversion"]];
}

/** Stops all processes of the jobs. Returns a function that resumes them. */
async function holdStill(jobs: readonly Job[]): Promise<() => void> {
  const pids = (await Promise.all(jobs.map((job) => findProcesses(system.dataDir, job)))).flat();
  if (pids.length === 0) throw new Error(`no process of ${jobs.join(", ")}`);
  // Parents first, so that they start no more children.
  for (const pid of pids) {
    process.kill(pid, "SIGSTOP");
    pids.push(...childrenOf(pid));
  }
  return () => {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGCONT");
      } catch (error) {
        // The process is gone; its supervisor has started another.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    }
  };
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number);
}

async function killIngress(): Promise<void> {
  const old = await findProcesses(system.dataDir, "ingress");
  expect(await killJob(system.dataDir, "ingress")).toBeGreaterThan(0);
  await until(
    "another ingress is in its place",
    async () => (await findProcesses(system.dataDir, "ingress")).some((pid) => !old.includes(pid)),
    { pollMs: 50 },
  );
}

/** Files with pixels that wait on the disk. */
function waitingFiles(): string[] {
  const journal = join(system.dataDir, "journal");
  return readdirSync(journal)
    .filter((producer) => /^\d+$/.test(producer))
    .flatMap((producer) => readdirSync(join(journal, producer)))
    .filter((name) => name.startsWith("pixels-"));
}

async function untilCounted(name: string, count: number): Promise<z.infer<typeof Page>["data"]> {
  return await until(
    `${count} pixels are recorded`,
    async () => {
      // Postbacks that got a 503 may have been recorded as well, so only pixels count.
      const rows = (await conversions()).filter(
        ({ adv_txid, method }) => adv_txid?.startsWith(name) === true && method === "pixel",
      );
      return rows.length >= count ? rows : undefined;
    },
    { timeoutMs: LATER_MS, pollMs: 200 },
  );
}

async function conversions(): Promise<z.infer<typeof Page>["data"]> {
  return Page.parse(await client.rest("/conversions?limit=500")).data;
}

async function storedInClickhouse(clickId: string): Promise<void> {
  await until("the click is stored", async () =>
    JSON.stringify(await client.rest("/clicks?limit=50")).includes(clickId),
  );
}

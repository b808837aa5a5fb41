import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { projectFile } from "../../schemas/host/project-root.ts";
import type { ServiceClient } from "../replay/service.ts";
import { ClickLoad, loadDifferences } from "../system/click-load.ts";
import { ConversionLoad } from "../system/conversion-load.ts";
import { factDifferences } from "../system/fact-differences.ts";
import { OwnServer } from "../system/own-server.ts";
import { killJob } from "../system/processes.ts";
import { type System, startSystem } from "../system/start-system.ts";
import { storedClicks } from "../system/stored-clicks.ts";
import { until } from "../system/until.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const CLICKS = IS_FULL ? 5_000 : 300;
const CONVERSIONS = IS_FULL ? 300 : 20;
const EQUAL_MS = 180_000;
/** A catalog change is in force within 1 s and the time to load it; in CI others use the machine. */
const IN_FORCE_MS = IS_FULL ? 2_000 : 15_000;
const Servers = z.object({
  postgres_url: z.string(),
  nats_url: z.string(),
  clickhouse_url: z.string(),
});
const Beats = z.array(z.object({ beat: z.coerce.number() }));
const Made = z.object({ data: z.object({ id: z.int() }) });
const Offers = z.object({ data: z.array(z.object({ id: z.int(), code: z.string() })) });

/** How a store goes back, while everything else runs on. */
const WAYS = {
  "Postgres is put back to an older copy": { store: "postgres", variable: "POSTGRES_URL" },
  "ClickHouse is put back to an older copy": { store: "clickhouse", variable: "CLICKHOUSE_URL" },
  "NATS is emptied": { store: "nats", variable: "NATS_URL" },
} as const;
const NAMES = [
  "Postgres is put back to an older copy",
  "ClickHouse is put back to an older copy",
  "NATS is emptied",
] as const;

test.for(NAMES)(
  "P38: %s under load: clicks once, facts as in Postgres, changes in force, no id twice (#12)",
  async (name, context) => {
    const { store, variable } = WAYS[name];
    await using server = await OwnServer.open(store);
    await using system = await startSystem({ env: { [variable]: server.url } });
    const urls = await serversOf(system);
    const load = new ClickLoad(
      system.client,
      system.client.demo.links.affiliate.replace(/\?.*/, ""),
    );
    const conversions = new ConversionLoad(system.client, load);
    const catalog = new CatalogLedger(system.client);
    load.start(4);
    conversions.start();
    await grow(load, conversions);
    await catalog.makePartners(3);
    await server.stop();
    await server.save("older");
    await server.start();
    // From here to the loss: what the store forgets.
    await grow(load, conversions);
    await catalog.makePartners(3);
    await catalog.changeInForce();
    // What Postgres loses within a beat (5 s) shows in no other store: a known gap, in processors/README.md.
    await untilMarked(urls.clickhouse);
    await server.kill();
    if (store === "nats") await rm(server.folder, { recursive: true });
    else await server.restore("older");
    await server.start();
    const runningMs = await catalog.changeInForce();
    await killJob(system.dataDir, "ingress");
    await until(
      "the ingress serves again",
      async () => (await system.client.attempt(system.client.demo.links.affiliate)).status === 302,
      { timeoutMs: 60_000 },
    );
    const restartedMs = await catalog.changeInForce();
    await catalog.makePartners(3);
    await grow(load, conversions);
    await conversions.stop();
    await load.stop();
    const clicks = async (): Promise<string[]> =>
      loadDifferences(load, await storedClicks(urls.clickhouse, load.run));
    await until("every answered click is stored once", async () => (await clicks()).length === 0, {
      timeoutMs: EQUAL_MS,
      pollMs: 500,
    }).catch(() => undefined);
    // What Postgres forgot stays a ghost until an operator deletes it; everything else comes by itself.
    const audited = store === "postgres" ? await auditAndRepair(system) : 0;
    await until(
      "facts are those of Postgres",
      async () => (await factDifferences(urls)).differences.length === 0,
      { timeoutMs: EQUAL_MS, pollMs: 500 },
    ).catch(() => undefined);
    const facts = await factDifferences(urls);
    const differences = [...(await clicks()), ...facts.differences, ...catalog.repeatedIds];
    reportCases(context, {
      cases: load.answered.size + facts.conversions + catalog.made,
      violations: differences.length,
    });
    process.stderr.write(
      `P38: ${name}: a change is in force after ${runningMs} ms, after a restart ${restartedMs} ms\n`,
    );
    expect(differences.slice(0, 10)).toEqual([]);
    expect(audited).toBe(0);
    expect(Math.max(runningMs, restartedMs)).toBeLessThan(IN_FORCE_MS);
  },
);

/** Waits until ClickHouse has noted how far the sequences of Postgres are by now. */
async function untilMarked(url: string): Promise<void> {
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  const beat = async (): Promise<number> => {
    const answer = await clickhouse.query({
      query: "select max(beat) as beat from installation_mark",
      format: "JSONEachRow",
    });
    return Beats.parse(await answer.json())[0]?.beat ?? 0;
  };
  try {
    const before = await beat();
    await until("two more beats are noted", async () => (await beat()) >= before + 2, {
      timeoutMs: 60_000,
    });
  } finally {
    await clickhouse.close();
  }
}

/** What was made and changed by the API, and what ingress makes of it. */
class CatalogLedger {
  readonly repeatedIds: string[] = [];
  made = 0;
  readonly #ids = new Set<number>();
  readonly #client: ServiceClient;
  #changes = 0;

  constructor(client: ServiceClient) {
    this.#client = client;
  }

  async makePartners(count: number): Promise<void> {
    for (let number = 0; number < count; number += 1) {
      this.made += 1;
      const code = `${Date.now().toString(36).slice(-6)}${this.made}`.toUpperCase();
      const { id } = Made.parse(
        await untilTaken(() => this.#client.create("/affiliates", { code, name: code })),
      ).data;
      if (this.#ids.has(id)) this.repeatedIds.push(`partner id ${id} was given twice`);
      this.#ids.add(id);
    }
  }

  /** Changes the destination of the demo's offer; answers after how many ms of the answer a redirect goes there. */
  async changeInForce(): Promise<number> {
    const { data } = Offers.parse(await this.#client.rest("/offers?limit=100"));
    const { id = 0 } = data.find(({ code }) => code === "DEMOSHOP") ?? {};
    this.#changes += 1;
    const destination = `https://shop.example/change-${this.#changes}`;
    await untilTaken(() =>
      this.#client.send("PATCH", `/offers/${id}`, { destination_url: destination }),
    );
    const sinceMs = performance.now();
    await until(
      "the change is in force",
      async () => {
        const answer = await this.#client.attempt(this.#client.demo.links.affiliate);
        return String(answer.headers["location"]).startsWith(destination);
      },
      { timeoutMs: 60_000, pollMs: 20 },
    );
    return Math.round(performance.now() - sinceMs);
  }
}

/** Repeats a writing request while it meets an outage; each names its own record, so that a second one is refused. */
async function untilTaken(send: () => Promise<unknown>): Promise<unknown> {
  const taken = await until(
    "the API takes a change",
    async () =>
      await send().then(
        (answer) => ({ answer }),
        (error: unknown) =>
          error instanceof Error && /HTTP 4/.test(error.message) ? { error } : undefined,
      ),
    { timeoutMs: 60_000, pollMs: 200 },
  );
  if ("error" in taken) throw taken.error;
  return taken.answer;
}

async function grow(load: ClickLoad, conversions: ConversionLoad): Promise<void> {
  const [clicks, reports] = [load.answered.size, conversions.told.size];
  await until(
    "more clicks and conversions are answered",
    () => load.answered.size >= clicks + CLICKS && conversions.told.size >= reports + CONVERSIONS,
    { timeoutMs: 120_000 },
  );
}

async function serversOf(system: System): Promise<{ postgres: string; clickhouse: string }> {
  const file = await readFile(join(system.dataDir, "servers.json"), "utf8");
  const urls = Servers.parse(JSON.parse(file));
  return { postgres: urls.postgres_url, clickhouse: urls.clickhouse_url };
}

/** `tracker audit --repair`, as an operator runs it after a restore; answers its exit code. */
async function auditAndRepair(system: System): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "tracker-audit-"));
  const child = spawn(
    process.execPath,
    [projectFile(".build", "api", "tracker.js"), "audit", "--repair"],
    { cwd: folder, env: { ...process.env, DATA_DIR: system.dataDir }, stdio: "ignore" },
  );
  const [code] = z
    .tuple([z.number().nullable()])
    .rest(z.unknown())
    .parse(await once(child, "exit"));
  await rm(folder, { recursive: true });
  return code ?? 1;
}

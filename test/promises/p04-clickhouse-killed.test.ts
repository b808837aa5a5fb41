import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { readClicks } from "../replay/ledger.ts";
import { pause } from "../replay/service.ts";
import { ClickLoad, loadDifferences } from "../system/click-load.ts";
import { findProcesses, killJob } from "../system/processes.ts";
import { rollupDifferences } from "../system/rollup-differences.ts";
import { randomOf, SEED } from "../system/seed.ts";
import { startSystem } from "../system/start-system.ts";
import { until } from "../system/until.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const Servers = z.object({ clickhouse_url: z.string() });
const KILLS = IS_FULL ? 20 : 3;
const FROZEN_MS = IS_FULL ? 120_000 : 6_000;

const random = randomOf(SEED);

test("P4: ClickHouse killed and frozen under load: every click is answered, none is lost, none is stored twice", async (context) => {
  await using system = await startSystem();
  const load = new ClickLoad(system.client, system.client.demo.links.affiliate.replace(/\?.*/, ""));
  load.start(16);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(1_000 + random() * 1_500);
    expect(await killJob(system.dataDir, "clickhouse")).toBeGreaterThan(0);
    await until(
      "the launcher starts ClickHouse again",
      async () => (await findProcesses(system.dataDir, "clickhouse")).length > 0,
      {
        timeoutMs: 30_000,
      },
    );
  }
  const [engine = 0] = await findProcesses(system.dataDir, "clickhouse");
  process.kill(engine, "SIGSTOP");
  const answeredWhenFrozen = load.answered.size;
  await pause(FROZEN_MS);
  expect(load.answered.size, "clicks are answered while ClickHouse hangs").toBeGreaterThan(
    answeredWhenFrozen + 100,
  );
  process.kill(engine, "SIGCONT");
  await load.stop();
  expect(load.unanswered.size).toBe(0);
  const from = new Date(Date.now() - 3_600_000).toISOString();
  let differences: string[] = ["not compared"];
  await until(
    "every answered click is stored exactly once",
    async () => {
      differences = loadDifferences(load, await readClicks(system.client, load.run, from));
      return differences.length === 0;
    },
    { timeoutMs: 90_000, pollMs: 1_000 },
  ).catch(() => undefined);
  reportCases(context, { cases: load.answered.size, violations: differences.length });
  expect(differences.slice(0, 10), `of ${load.answered.size} answered`).toEqual([]);
  expect(await differentRollups(system.dataDir), "sums that differ from their rows").toEqual([]);
});

async function differentRollups(dataDir: string): Promise<string[]> {
  const file = await readFile(join(dataDir, "servers.json"), "utf8");
  const { clickhouse_url: url } = Servers.parse(JSON.parse(file));
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  try {
    return await rollupDifferences(clickhouse);
  } finally {
    await clickhouse.close();
  }
}

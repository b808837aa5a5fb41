import { expect, test } from "vitest";
import { pause } from "../replay/service.ts";
import { ClickLoad, loadDifferences } from "../system/click-load.ts";
import { findProcesses, killJob } from "../system/processes.ts";
import { randomOf, SEED } from "../system/seed.ts";
import { serversOf } from "../system/servers-of.ts";
import { startSystem } from "../system/start-system.ts";
import { storedClicks } from "../system/stored-clicks.ts";
import { until } from "../system/until.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const KILLS = IS_FULL ? 30 : 4;
/** The more often it is killed the longer the launcher waits: on a slow machine it takes more kills to have these. */
const CLICKS = IS_FULL ? 500_000 : 10_000;
const STORED_MS = IS_FULL ? 300_000 : 60_000;
/** At full size a comparison reads some 600,000 rows. */
const COMPARE_EVERY_MS = IS_FULL ? 5_000 : 1_000;
const SECONDS_BETWEEN_MAX = 3;

const random = randomOf(SEED);

test("P1: a click that got its answer survives kill -9 of the ingress at any instant", async (context) => {
  await using system = await startSystem();
  const load = new ClickLoad(system.client, system.client.demo.links.affiliate.replace(/\?.*/, ""));
  load.start(32);
  for (let kill = 0; kill < KILLS || load.answered.size < CLICKS; kill += 1) {
    // Random instants are the point: nothing is waited for.
    await pause(1_000 + random() * (SECONDS_BETWEEN_MAX - 1) * 1_000);
    expect(await killJob(system.dataDir, "ingress")).toBeGreaterThan(0);
    await until(
      "the launcher starts the ingress again",
      async () => (await findProcesses(system.dataDir, "ingress")).length > 0,
      {
        timeoutMs: 20_000,
      },
    );
  }
  const before = load.answered.size;
  await until("clicks are answered after the last kill", () => load.answered.size > before + 100, {
    timeoutMs: 30_000,
  });
  await load.stop();
  const { clickhouse } = await serversOf(system);
  let differences: string[] = ["not compared"];
  await until(
    "every answered click is stored exactly once",
    async () => {
      differences = loadDifferences(load, await storedClicks(clickhouse, load.run));
      return differences.length === 0;
    },
    { timeoutMs: STORED_MS, pollMs: COMPARE_EVERY_MS },
  ).catch(() => undefined);
  reportCases(context, { cases: load.answered.size, violations: differences.length });
  expect(
    differences.slice(0, 10),
    `of ${load.answered.size} answered, ${load.unanswered.size} without answer`,
  ).toEqual([]);
});

import { expect, test } from "vitest";
import { rollupDifferences } from "../../../api/reports/rollup-differences.ts";
import { openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { findProcesses, killAndAwaitSuccessor } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { pause } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { until } from "../../system/until.ts";

const KILLS = IS_FULL ? 20 : 2;
const FROZEN_MS = IS_FULL ? 600_000 : 6_000;
const RESTART_MS = 60_000;
const CLICKS_PER_SECOND = IS_FULL ? 1_000 : 300;
/** Time to store the backlog of the freeze, at five times its rate of arrival; more in CI, where other load uses the machine. */
const STORED_MS = IS_FULL ? FROZEN_MS / 5 : 90_000;
/** At full size a comparison reads some 600,000 rows. */
const COMPARE_EVERY_MS = IS_FULL ? 5_000 : 1_000;

const random = randomOf(SEED);

test("ClickHouse killed and frozen under load: clicks are answered, none is lost or stored twice (P4)", async (context) => {
  await using system = await startSystem();
  const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
  load.start(16, CLICKS_PER_SECOND);
  for (let kills = 0; kills < KILLS; ) {
    await pause(1_000 + random() * 1_500);
    kills += await killAndAwaitSuccessor(system.dataDir, "clickhouse");
  }
  const { clickhouse } = await serversOf(system);
  await until(
    "ClickHouse answers again",
    async () => (await storedClicks(clickhouse, load.run)).length >= 0,
    { timeoutMs: RESTART_MS, pollMs: 500 },
  );
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
  expect(differences.slice(0, 10), `of ${load.answered.size} answered`).toEqual([]);
  expect(await differentRollups(clickhouse), "sums that differ from their rows").toEqual([]);
});

async function differentRollups(url: string): Promise<string[]> {
  const clickhouse = openClickhouse({ url, applicationName: "test" });
  try {
    return [...(await rollupDifferences(clickhouse)).differing];
  } finally {
    await clickhouse.close();
  }
}

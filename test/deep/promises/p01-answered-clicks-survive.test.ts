import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { killAndAwaitSuccessor } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { pause } from "../../system/service.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { until } from "../../system/until.ts";

const KILLS = IS_FULL ? 30 : 3;
/** A minimum: the more often the ingress is killed, the longer the launcher waits, so a slow machine needs more kills to reach it. */
const CLICKS = IS_FULL ? 500_000 : 10_000;
const CLICKS_PER_SECOND = IS_FULL ? Number.POSITIVE_INFINITY : 1_000;
const STORED_MS = IS_FULL ? 300_000 : 60_000;
/** At full size a comparison reads some 600,000 rows. */
const COMPARE_EVERY_MS = IS_FULL ? 5_000 : 1_000;
const SECONDS_BETWEEN_MAX = 3;

const random = randomOf(SEED);

test("a click that got its answer survives kill -9 of the ingress at any instant (P1)", async (context) => {
  await using system = await startSystem();
  const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
  load.start(32, CLICKS_PER_SECOND);
  for (let kills = 0; kills < KILLS || load.answered.size < CLICKS; ) {
    // Kills come at random instants. Every fourth may hit the start-up; the others wait for the first answer.
    if (kills % 4 !== 3) await untilAnswered(load, 1);
    await pause(random() * SECONDS_BETWEEN_MAX * 1_000);
    kills += await killAndAwaitSuccessor(system.dataDir, "ingress");
  }
  await untilAnswered(load, 100);
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

async function untilAnswered(load: ClickLoad, more: number): Promise<void> {
  const before = load.answered.size;
  await until("clicks are answered again", () => load.answered.size >= before + more, {
    timeoutMs: 60_000,
  });
}

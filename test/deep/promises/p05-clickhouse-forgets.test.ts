import { expect, test } from "vitest";
import { IS_FULL, reportCases } from "../../promises/report-cases.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { OwnServer } from "../../system/own-server.ts";
import { killJob } from "../../system/processes.ts";
import { randomOf, SEED } from "../../system/seed.ts";
import { serversOf } from "../../system/servers-of.ts";
import { startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { until } from "../../system/until.ts";

const ROUNDS = IS_FULL ? 10 : 1;
/** Clicks that ClickHouse confirms and then forgets in each round. */
const FORGOTTEN_CLICKS = IS_FULL ? 5_000 : 600;
const CLICKS_PER_SECOND = IS_FULL ? Number.POSITIVE_INFINITY : 300;
const FORGOTTEN_CONVERSIONS = IS_FULL ? 300 : 40;
const GROWN_MS = IS_FULL ? 300_000 : 120_000;
const RESTORED_MS = IS_FULL ? 300_000 : 120_000;

const random = randomOf(SEED);

test("what ClickHouse confirmed and then forgot is restored, even through kill -9 (P5, #2, #24)", async (context) => {
  await using clickhouse = await OwnServer.open("clickhouse");
  await using system = await startSystem({ env: { CLICKHOUSE_URL: clickhouse.url } });
  const urls = await serversOf(system);
  const load = new ClickLoad(system.client.demo.links.affiliate.replace(/\?.*/, ""));
  const conversions = new ConversionLoad(system.client, load);
  const clickDifferences = async (): Promise<string[]> =>
    loadDifferences(load, await storedClicks(clickhouse.url, load.run));
  const isEqual = async (): Promise<boolean> =>
    (await clickDifferences()).length === 0 &&
    (await factDifferences(urls)).differences.length === 0;
  const grow = async (): Promise<void> => {
    const [clicks, reports] = [load.answered.size, conversions.answered.size];
    await until("more clicks are answered", () => load.answered.size >= clicks + FORGOTTEN_CLICKS, {
      timeoutMs: GROWN_MS,
    });
    await until(
      "more conversions are answered",
      () => conversions.answered.size >= reports + FORGOTTEN_CONVERSIONS,
      { timeoutMs: GROWN_MS },
    );
  };
  load.start(4, CLICKS_PER_SECOND);
  conversions.start();
  await grow();
  for (let round = 0; round < ROUNDS; round += 1) {
    await clickhouse.kill();
    await clickhouse.save(`round-${round}`);
    await clickhouse.start();
    // ClickHouse will forget everything from here on: clicks, conversions, and changes of conversions that it keeps.
    await grow();
    for (const conversion of [...conversions.answered.values()].slice(0, 10)) {
      await conversions.change(conversion, `${round + 1}00.5`);
    }
    const [confirmed, copied] = [new Set(load.answered.values()), conversions.answered.size];
    await until(
      "ClickHouse has confirmed everything answered so far",
      async () => {
        const stored = new Set(
          (await storedClicks(clickhouse.url, load.run)).map((row) => row.click_id),
        );
        const { conversions: all, differences } = await factDifferences(urls);
        return [...confirmed].every((id) => stored.has(id)) && all - differences.length >= copied;
      },
      // Includes the repair of the round before, which waits up to 40 s if the kill of the processors interrupted it.
      { timeoutMs: 120_000, pollMs: 500 },
    );
    await clickhouse.kill();
    await clickhouse.restore(`round-${round}`);
    await clickhouse.start();
    if (random() < 0.7) {
      // Kill the processors in the middle of the repair.
      const { differences } = await factDifferences(urls);
      await until(
        "the repair has begun",
        async () => (await factDifferences(urls)).differences.length < differences.length,
        { timeoutMs: 60_000 },
      );
      await until(
        "the processors are killed",
        async () => (await killJob(system.dataDir, "processors")) > 0,
      );
    }
  }
  await conversions.stop();
  await load.stop();
  await until("everything is restored", isEqual, {
    timeoutMs: RESTORED_MS,
    pollMs: 1_000,
  }).catch(() => undefined);
  const facts = await factDifferences(urls);
  const differences = [...(await clickDifferences()), ...facts.differences, ...conversions.refused];
  reportCases(context, {
    cases: load.answered.size + facts.conversions,
    violations: differences.length,
  });
  expect(differences.slice(0, 10)).toEqual([]);
});

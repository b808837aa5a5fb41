import { expect, test } from "vitest";
import { openPool } from "../../../schemas/postgres/connect.ts";
import { IS_FULL } from "../../promises/report-cases.ts";
import { ClickLoad, clickDifferences } from "../../system/click-load.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { factDifferences } from "../../system/fact-differences.ts";
import { PostgresPair } from "../../system/postgres-pair.ts";
import { serversOf } from "../../system/servers-of.ts";
import { startSystem } from "../../system/start-system.ts";
import { until } from "../../system/until.ts";

const KILLS = IS_FULL ? 10 : 2;
const CLICKS_PER_SECOND = 100;
const CONVERSIONS_PER_KILL = 30;
/** From a kill until reports are answered again, with the time in which the killed server is copied. */
const PATIENCE = { timeoutMs: 120_000, pollMs: 200 };
const TIMEOUT_MS = IS_FULL ? 60 * 60_000 : 6 * 60_000;

test("each time the primary of Postgres is killed, the standby has every conversion answered with ok:true", {
  timeout: TIMEOUT_MS,
}, async () => {
  await using pair = await PostgresPair.open();
  await using system = await startSystem({ env: { POSTGRES_URL: pair.url } });
  const { client } = system;
  const urls = { ...(await serversOf(system)), postgres: pair.url };
  const load = new ClickLoad(client.demo.links.affiliate.replace(/\?.*/, ""));
  const conversions = new ConversionLoad(client, load);
  load.start(4, CLICKS_PER_SECOND);
  conversions.start();
  const untilMore = async (): Promise<void> => {
    const enough = conversions.answered.size + CONVERSIONS_PER_KILL;
    await until("reports are answered", () => conversions.answered.size >= enough, PATIENCE);
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    await untilMore();
    await pair.failOver();
    const answered = [...conversions.answered.values()].map(({ id }) => id);
    expect(await missing(pair.url, answered)).toEqual([]);
    await pair.rebuild();
  }
  await untilMore();
  await conversions.stop();
  await load.stop();

  const answered = [...conversions.answered.values()].map(({ id }) => id);
  expect(await missing(pair.url, answered)).toEqual([]);
  // No click was unknown, no visitor noticed, and no id was given twice.
  expect(conversions.refused).toEqual([]);
  expect(conversions.repeatedIds).toEqual([]);
  expect([load.refused, load.unanswered.size]).toEqual([0, 0]);
  await until(
    "every answered click is stored once",
    async () => (await clickDifferences(urls.clickhouse, [load])).length === 0,
    PATIENCE,
  );
  await until(
    "every conversion has its copy for reports, and no other has one",
    async () => (await factDifferences(urls)).differences.length === 0,
    PATIENCE,
  );
});

/** Which of these conversions Postgres does not have. */
async function missing(url: string, ids: readonly string[]): Promise<string[]> {
  const pool = openPool({ url, applicationName: "test", connectionsMax: 1 });
  try {
    const { rows } = await pool.query<{ id: string }>({
      text: "select id from unnest($1::uuid[]) as id where not exists (select from conversion c where c.id = id)",
      values: [ids],
    });
    return rows.map(({ id }) => id);
  } finally {
    await pool.end();
  }
}

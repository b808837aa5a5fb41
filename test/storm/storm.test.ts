import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { rollupDifferences } from "../../api/reports/rollup-differences.ts";
import { openClickhouse } from "../../schemas/clickhouse/connect.ts";
import { forThisFile } from "../services/for-this-file.ts";
import { loadDifferences } from "../system/click-load.ts";
import { chosenBySeed, randomOf, SEED } from "../system/seed.ts";
import { storedClicks } from "../system/stored-clicks.ts";
import { trackerCommand } from "../system/tracker-command.ts";
import { until } from "../system/until.ts";
import { approvedOrders, deliveredTo, STORM_STEPS, type StormStep } from "./storm-steps.ts";
import { StormWorld } from "./storm-world.ts";

vi.setConfig({ testTimeout: 180_000 });

const STORED = { timeoutMs: 120_000, pollMs: 1_000 };
const Report = z.object({
  totals: z.object({ clicks: z.int(), conversions: z.int(), payout: z.string() }),
});

const random = randomOf(SEED);
const steps = shuffled([
  ...STORM_STEPS.filter(({ outage }) => outage === undefined),
  ...oneOf("NATS", SEED),
  ...oneOf("ClickHouse", SEED + 1),
]);
const leftOut = STORM_STEPS.filter((step) => !steps.includes(step)).map(({ name }) => name);
process.stdout.write(`Left out of the storm of this SEED: ${leftOut.join("; ")}\n`);
const storm = await forThisFile(StormWorld.open());

test.each(steps.map((step, at) => ({ ...step, place: at + 1 })))(
  `storm SEED=${SEED}, step $place: $name`,
  async ({ run }) => {
    await run(storm, random);
    expect(storm.orders.faults.slice(0, 10)).toEqual([]);
  },
);

test("after the storm every answered click is stored exactly once (P1, P2, P4, P9, P11, P34)", async () => {
  await storm.stopLoad();
  let differences: string[] = ["not compared"];
  await until(
    "every answered click is stored once",
    async () => {
      differences = loadDifferences(
        storm.clicks,
        await storedClicks(storm.clickhouse.url, storm.clicks.run),
      );
      return differences.length === 0;
    },
    STORED,
  ).catch(() => undefined);
  const { answered, unanswered } = storm.clicks;
  expect(
    differences.slice(0, 10),
    `of ${answered.size} answered, ${unanswered.size} without answer, SEED=${SEED}`,
  ).toEqual([]);
});

test("after the storm every accepted order counts once, none got a business error (P12, P14, P15, P16)", async () => {
  expect(storm.orders.faults.slice(0, 10)).toEqual([]);
  const { rows } = await storm.db.query<{ txid: string; counted: number; ids: string[] }>({
    text: `select adv_txid as txid, count(*) filter (where not is_duplicate)::int as counted,
             array_agg(id::text) as ids
           from conversion where adv_txid like $1 group by 1`,
    values: [`${storm.orders.run}-%`],
  });
  const stored = new Map(rows.map((row) => [row.txid, row]));
  const wrong = [...storm.orders.accepted.values()].filter(({ txid, conversionId }) => {
    const row = stored.get(txid);
    const isCapped = txid.includes("-CAP");
    return row?.ids.includes(conversionId) !== true || (!isCapped && row.counted !== 1);
  });
  expect(wrong.slice(0, 10), `of ${storm.orders.accepted.size} accepted`).toEqual([]);
  expect(rows.filter(({ counted }) => counted > 1)).toEqual([]);
});

test("after the storm each counted order was delivered to the partner (P22)", async () => {
  const approved = [...(await approvedOrders(storm))];
  expect(approved.length).toBeGreaterThan(50);
  let missing = approved;
  await until(
    "everything is delivered",
    () => {
      const arrived = deliveredTo(storm, "good");
      missing = approved.filter((id) => !arrived.has(id));
      return missing.length === 0;
    },
    STORED,
  ).catch(() => undefined);
  expect(missing.slice(0, 10), `of ${approved.length}`).toEqual([]);
});

test("after the storm the report equals a recount of the rows, and sums equal their rows (P13)", async () => {
  const [clicks] = await clickhouseRows<{ clicks: number }>(
    `select toInt32(count()) as clicks from click where offer_id = ${storm.offerId}`,
  );
  const { rows } = await storm.db.query<{ conversions: number; payout: string }>({
    text: `select count(*)::int as conversions, sum(payout)::text as payout from conversion
           where offer_id = $1 and status = 'approved'`,
    values: [storm.offerId],
  });
  const expected = { clicks: clicks?.clicks, ...rows[0] };
  let shown: unknown;
  await until(
    "the report follows",
    async () => {
      const query = "preset=last7&group_by=date&metrics=clicks,conversions,payout&currency=USD";
      const filter = `&filters=offer:in:${storm.offerId}`;
      shown = Report.parse(await storm.system.client.rest(`/reports?${query}${filter}`)).totals;
      return isDeepStrictEqual(shown, expected);
    },
    { pollMs: 500 },
  ).catch(() => undefined);
  expect(shown).toEqual(expected);
  const clickhouse = openClickhouse({ url: storm.clickhouse.url, applicationName: "test" });
  try {
    expect([...(await rollupDifferences(clickhouse)).differing]).toEqual([]);
  } finally {
    await clickhouse.close();
  }
});

test("after the storm an audit finds no difference between stores, journals and catalogs (P37)", async () => {
  let audited = { code: 1, output: "not run" };
  await until(
    "the audit is clean",
    async () => {
      audited = await trackerCommand(storm.system.dataDir, ["audit", "--deep"]);
      return audited.code === 0;
    },
    { timeoutMs: 60_000, pollMs: 5_000 },
  ).catch(() => undefined);
  expect([audited.code, audited.output]).toEqual([0, audited.output]);
});

async function clickhouseRows<Row>(query: string): Promise<Row[]> {
  const clickhouse = openClickhouse({ url: storm.clickhouse.url, applicationName: "test" });
  try {
    return await (await clickhouse.query({ query, format: "JSONEachRow" })).json<Row>();
  } finally {
    await clickhouse.close();
  }
}

/** The step of this outage that a seed chooses. test/deep/promises has all of them. */
function oneOf(outage: StormStep["outage"], seed: number): StormStep[] {
  return chosenBySeed(
    STORM_STEPS.filter((step) => step.outage === outage),
    1,
    seed,
  );
}

/** In an order that SEED decides. */
function shuffled(all: readonly StormStep[]): StormStep[] {
  const left = [...all];
  return all
    .map(() => left.splice(Math.floor(random() * left.length), 1)[0])
    .filter((step) => step !== undefined);
}

import { afterEach, beforeEach, expect, test } from "vitest";
import { CLOSING_LANE } from "../../../../schemas/clickhouse/closing-lane.ts";
import { IMPRESSION_LANE } from "../../../../schemas/events/lanes.ts";
import { openPool } from "../../../../schemas/postgres/connect.ts";
import { runCommandOn } from "../../../integration/api/run-tracker.ts";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf } from "../../../integration/clicks/click-world.ts";
import { ClickhouseProxy } from "../../../integration/clicks/clickhouse-proxy.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";
import { until } from "../../../system/until.ts";

let world: ClickWorld;
let proxy: ClickhouseProxy;

beforeEach(async () => {
  world = await ClickWorld.open();
  proxy = await ClickhouseProxy.open(world.database.clickhouseUrl);
});

afterEach(async () => {
  await world.close();
  await proxy.close();
});

const PATIENCE = { timeoutMs: 90_000, pollMs: 25 };

/** A record that the writer accepts, and neither ClickHouse nor the schema. */
function brokenRecord(): string {
  return `{"ts":${Date.now()},"sub1":"unfinished}`;
}

async function closingRows(table = "click"): Promise<number> {
  return (await world.counts(CLOSING_LANE, table)).rows;
}

test("each insert is recorded before it begins: its positions, its month and its token", async () => {
  await world.startWriter();
  const producer = world.producer({ producer: 6, epoch: 3 });
  const month = { ts: Date.UTC(2026, 4, 9) };
  producer.record(aClick(month), aClick(month));
  await producer.shipAll();
  await world.untilSettled(producer);
  producer.record(aClick(month), aClick(month), aClick(month));
  await producer.ship(2, 5);
  await world.untilSettled(producer);
  const [lease] = await world.rows<{ intent: Record<string, unknown> }>(
    "select intent from lane_lease where lane = 0",
  );
  expect(lease?.intent).toEqual({
    n: 2,
    table: "click",
    month: 202_605,
    ranges: [[6, 3, 2, 5]],
    token: lease?.intent["token"],
    home: null,
  });
  expect(lease?.intent["token"]).toMatch(/^[0-9a-f]{32}$/);
  const used = async (): Promise<boolean> => {
    const queries = await world.facts(
      `select 1 from system.query_log where type = 'QueryFinish'
         and Settings['insert_deduplication_token'] = {token: String}`,
      { token: lease?.intent["token"] },
    );
    return queries.length === 1;
  };
  await until("the log of ClickHouse has an insert with the token", used, PATIENCE);
  expect(await world.counts()).toEqual({ rows: 5, positions: 5 });
});

test("without Postgres no insert begins, clicks are found in memory, and all are stored once later", async () => {
  const gate = await TcpGate.open(world.env.POSTGRES_URL);
  const pool = openPool({ url: gate.urlOf(world.env.POSTGRES_URL), applicationName: "test gate" });
  try {
    const writer = await world.startWriter({ pool, clickhouseUrl: proxy.url, leaseMs: 20_000 });
    const producer = world.producer();
    producer.record(...Array.from({ length: 10 }, () => aClick()));
    await producer.shipAll();
    await world.untilSettled(producer);
    const { inserts } = proxy;
    await gate.shut();
    const click = aClick();
    producer.record(click);
    await producer.ship(10, 11);
    await until(
      "an insert could not be recorded",
      () => metricOf(writer.metrics, "clicks_retries_total") > 0,
      PATIENCE,
    );
    const clickId = String(click["click_id"]);
    const { clicks } = await world.ask({ by: "id", shard: 0, clickId });
    expect(clicks).toHaveLength(1);
    // The lease has most of its time left, and still nothing was sent.
    expect(proxy.inserts).toBe(inserts);
    await gate.open();
    await world.untilSettled(producer, 11);
    expect(await world.counts()).toEqual({ rows: 11, positions: 11 });
  } finally {
    await gate.shut();
    await pool.end();
  }
});

test("records that ClickHouse refuses are noted as lost, also when the answer about them is lost", async () => {
  const writer = await world.startWriter({ clickhouseUrl: proxy.url });
  const producer = world.producer();
  producer.record(aClick());
  await producer.shipAll();
  await world.untilSettled(producer);
  let answersLost = 0;
  proxy.fateOf = () => ((answersLost += 1) === 1 ? "lose-answer" : "pass");
  producer.record(aClick());
  producer.lines.push(brokenRecord());
  producer.record(aClick());
  await producer.ship(1, 4);
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 3, positions: 3 });
  expect(metricOf(writer.metrics, "clicks_inserts_settled_total")).toBe(1);
  expect(metricOf(writer.metrics, "clicks_lost_total")).toBe(1);
  expect(await closingRows()).toBe(0);
});

test.each([
  ["click", 0],
  ["impression", IMPRESSION_LANE],
] as const)(
  "an undecided insert into %s with no readable record ends with a closing row nobody counts",
  async (table, lane) => {
    const writer = await world.startWriter({ clickhouseUrl: proxy.url });
    const producer = world.producer({ lane });
    const record = (): ReturnType<typeof aClick> =>
      table === "click" ? aClick() : { ts: Date.now() };
    producer.record(record());
    await producer.shipAll();
    await world.untilSettled(producer);
    let answersLost = 0;
    proxy.fateOf = () => ((answersLost += 1) === 1 ? "lose-answer" : "pass");
    producer.lines.push(brokenRecord());
    await producer.ship(1, 2);
    await world.untilSettled(producer);
    expect(metricOf(writer.metrics, "clicks_lost_total")).toBe(1);
    expect(await closingRows(table)).toBe(1);
    producer.record(record());
    await producer.ship(2, 3);
    await world.untilSettled(producer);
    expect(await world.counts(lane, table)).toEqual({ rows: 2, positions: 2 });
    await writer.close();
    const { result } = await runCommandOn(world, ["audit"]);
    expect(result).toContain("2 rows of 1 lane");
    const lanes = await world.rows("select lane from lane_lease where lane = $1", [CLOSING_LANE]);
    expect(lanes).toEqual([]);
  },
);

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { POSITIONS_QUERY } from "../../../processors/clicks/lane/stored-positions.ts";
import { CLICK_TABLE, IMPRESSION_TABLE } from "../../../processors/clicks/rows/lane-table.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { IMPRESSION_LANE } from "../../../schemas/events/lanes.ts";
import { streamOfLane } from "../../../schemas/nats/lane-groups.ts";
import { until } from "../../system/until.ts";
import { aClick, type ClickProducer } from "./click-producer.ts";
import { ClickWorld, metricOf } from "./click-world.ts";

let world: ClickWorld;

beforeEach(async () => {
  world = await ClickWorld.open();
});

afterEach(async () => {
  await world.close();
});

const NINE_CLICKS = Array.from({ length: 9 }, () => ({}));

test("a record becomes a row with the same values, and defaults for absent fields", async () => {
  await world.startWriter();
  const producer = world.producer();
  const whole = aClick({
    sub1: 'ä "quoted" \\ \u2028 end',
    destination: "https://example.com/?a=1&b=2",
    asn: 4_200_000_000,
    visitor: 2 ** 52 - 1,
    click_payout: "12.3456",
    currency: "EUR",
    is_bot: false,
  });
  producer.record(
    whole,
    aClick({ status: "blocked", status_reason: "bot", is_bot: true, may_be_unique: false }),
  );
  await producer.shipAll();
  await world.untilSettled(producer);
  const names = Object.keys(ClickRecord.shape).filter((name) => name !== "may_be_unique");
  const columns = names.map((name) => {
    if (name === "click_id") return "lower(hex(click.click_id)) as click_id";
    if (name === "ts") return "toUnixTimestamp64Milli(click.ts) as ts";
    return name.startsWith("click_")
      ? `toDecimalString(click.${name}, 4) as ${name}`
      : `click.${name} as ${name}`;
  });
  const rows = await world.facts<Record<string, unknown>>(
    `select ${columns.join(", ")}, is_unique from click order by _position`,
  );
  for (const [index, line] of producer.lines.entries()) {
    const { may_be_unique: isUnique, ...record } = ClickRecord.parse(JSON.parse(line));
    expect(rows[index]).toEqual({ ...record, is_unique: isUnique });
  }
});

test("every column of both tables is filled by the insert or by the table", async () => {
  for (const table of [CLICK_TABLE, IMPRESSION_TABLE]) {
    const columns = await world.facts<{ name: string }>(`describe table ${table.name}`);
    const filled = [
      ...table.columns.map(([name]) => name),
      "_lane",
      "_writer_epoch",
      "inserted_at",
    ];
    expect(columns.map(({ name }) => name).toSorted()).toEqual(filled.toSorted());
  }
});

test("records that are repeated in other batches add nothing", async () => {
  const writer = await world.startWriter();
  const producer = world.producer();
  producer.record(...Array.from({ length: 500 }, () => aClick()));
  await producer.shipAll(100);
  await world.untilSettled(producer);
  await producer.shipAll(7);
  await producer.ship(0, 500);
  producer.record(aClick());
  await producer.ship(450, 501);
  await world.untilSettled(producer, 501);
  expect(await world.counts()).toEqual({ rows: 501, positions: 501 });
  expect(metricOf(writer.metrics, "clicks_repeated_total")).toBe(500 + 500 + 50);
  const inserts = metricOf(writer.metrics, "clicks_inserts_total");
  expect(metricOf(writer.metrics, "clicks_insert_seconds_count")).toBe(inserts);
});

test("a journal that is replayed to another writer adds nothing", async () => {
  const producer = world.producer();
  producer.record(...Array.from({ length: 300 }, () => aClick()));
  const first = await world.startWriter();
  await producer.shipAll(50);
  await world.untilSettled(producer);
  await first.close();
  await producer.shipAll(64);
  const second = await world.startWriter();
  await until(
    "the second writer has read everything",
    () => metricOf(second.metrics, "clicks_repeated_total") === 300,
    { pollMs: 25 },
  );
  expect(await world.counts()).toEqual({ rows: 300, positions: 300 });
});

test("a gap is published and filled by a resend; later records are stored meanwhile", async () => {
  const writer = await world.startWriter();
  const producer = world.producer();
  producer.record(...Array.from({ length: 30 }, () => aClick()));
  await producer.ship(0, 10);
  await producer.ship(20, 30);
  const mark = await world.untilWatermark(producer, ({ next }) => next === 30);
  expect(mark.missing).toEqual([[10, 20]]);
  expect((await world.counts()).rows).toBe(20);
  expect(metricOf(writer.metrics, "clicks_holes_total")).toBe(1);
  expect(metricOf(writer.metrics, "clicks_open_holes")).toBe(1);
  await producer.ship(12, 18);
  await producer.ship(5, 25);
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 30, positions: 30 });
});

test("a gap is still published after a restart, and filled then", async () => {
  const producer = world.producer();
  producer.record(...Array.from({ length: 30 }, () => aClick()));
  const first = await world.startWriter();
  await producer.ship(5, 10);
  await producer.ship(20, 30);
  await world.untilWatermark(producer, ({ next }) => next === 30);
  await first.close();
  world.forgetWatermarks();
  await world.startWriter();
  const mark = await world.untilWatermark(producer, ({ next }) => next === 30);
  expect(mark.missing).toEqual([
    [0, 5],
    [10, 20],
  ]);
  await producer.shipAll(10);
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 30, positions: 30 });
});

test("records that their producer declared lost are counted and no gap, also after a restart", async () => {
  const producer = world.producer();
  producer.record(...Array.from({ length: 30 }, () => aClick()));
  const first = await world.startWriter();
  await producer.ship(0, 10);
  await producer.ship(20, 30, { lostFrom: 10 });
  await world.untilSettled(producer, 30);
  expect(metricOf(first.metrics, "clicks_lost_total")).toBe(10);
  expect(metricOf(first.metrics, "clicks_holes_total")).toBe(0);
  await first.close();
  world.forgetWatermarks();
  await world.startWriter();
  await world.untilSettled(producer, 30);
  expect((await world.counts()).rows).toBe(20);
});

test("an unreadable message or record stops nothing", async () => {
  const writer = await world.startWriter();
  const producer = world.producer();
  await producer.publish(new Uint8Array([0xff, 0x00, 0x13]));
  await producer.publish(new TextEncoder().encode("{}\n{}"));
  producer.record(aClick());
  producer.lines.push("not a record", '{"click_id":"x"}');
  producer.record(aClick());
  // The writer accepts these, ClickHouse does not: a repeated field, a text cut within a character, a broken record.
  producer.lines.push(`${JSON.stringify(aClick()).slice(0, -1)},"country":"FR"}`);
  producer.lines.push(JSON.stringify(aClick({ sub2: "cut \ud83d" })));
  producer.lines.push(`{"ts":${Date.now()},"sub1":"unfinished}`);
  producer.record(aClick());
  await producer.shipAll();
  await world.untilSettled(producer);
  const rows = await world.facts<{ position: number }>(
    "select _position as position from click order by _position",
  );
  expect(rows.map(({ position }) => position)).toEqual([0, 3, 4, 5, 7]);
  expect(metricOf(writer.metrics, "clicks_dead_messages_total")).toBe(2);
  expect(metricOf(writer.metrics, "clicks_lost_total")).toBe(3);
});

test("a visitor's first click on an offer by a partner is unique, through restarts of the writer", async () => {
  const producer = world.producer();
  const visit = { visitor: 77, offer_id: 4, affiliate_id: 3 };
  producer.record(
    aClick(visit),
    aClick(visit),
    aClick({ ...visit, affiliate_id: 5 }),
    aClick({ ...visit, visitor: 78, may_be_unique: false }),
    aClick({ ...visit, visitor: 78 }),
  );
  const first = await world.startWriter();
  await producer.shipAll();
  await world.untilSettled(producer);
  await first.close();
  await world.startWriter();
  producer.record(
    aClick(visit),
    aClick({ ...visit, visitor: 78 }),
    aClick({ ...visit, visitor: 79 }),
  );
  await producer.ship(5, 8);
  await world.untilSettled(producer);
  const rows = await world.facts<{ is_unique: boolean }>(
    "select is_unique from click order by _position",
  );
  expect(rows.map((row) => row.is_unique)).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
    false,
    true,
  ]);
});

test("a click that is not unique earns nothing on an offer that pays per click", async () => {
  await world.startWriter();
  const producer = world.producer();
  const paid = { visitor: 5, click_payout: "0.1000", click_revenue: "0.2500", currency: "EUR" };
  producer.record(aClick(paid), aClick(paid));
  await producer.shipAll();
  await world.untilSettled(producer);
  const rows = await world.facts(
    "select toDecimalString(click_payout, 4) as payout, toDecimalString(click_revenue, 4) as revenue from click order by _position",
  );
  expect(rows).toEqual([
    { payout: "0.1000", revenue: "0.2500" },
    { payout: "0.0000", revenue: "0.0000" },
  ]);
});

test("a young click is found by its id and its ad ID before it is in ClickHouse", async () => {
  await world.startWriter();
  const producer = world.producer();
  await producer.idle(Date.now() - 2_000);
  await world.untilWatermark(producer, () => true);
  // Inserts fail as in an outage of ClickHouse.
  await world.clickhouse.command({ query: "rename table click to click_away" });
  const gclid = `G-${randomBytes(8).toString("hex")}`;
  const click = aClick({ gclid, sub1: "young" });
  producer.record(click, aClick({ gclid, workspace_id: 2 }));
  await producer.shipAll();
  const at = Date.now();
  await producer.idle(at);
  const byId = { by: "id", shard: 0, clickId: String(click["click_id"]) } as const;
  const found = await until("the click is found", async () => await firstOf(byId), { pollMs: 10 });
  expect(found).toMatchObject({ sub1: "young", is_unique: true });
  const byAdId = {
    by: "ad-click-id",
    shard: 0,
    workspaceId: 1,
    kind: "gclid",
    offerId: 0,
    value: gclid,
  } as const;
  const answer = await world.ask(byAdId);
  expect(answer.clicks.map((row) => ClickRecord.parse(JSON.parse(row)).click_id)).toEqual([
    click["click_id"],
  ]);
  await until("the answer is complete", async () => (await world.ask(byAdId)).completeToMs >= at, {
    pollMs: 10,
  });
  await world.clickhouse.command({ query: "rename table click_away to click" });
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 2, positions: 2 });
});

test("clicks of two months in one batch are stored once each, in two parts", async () => {
  await world.startWriter();
  const producer = world.producer();
  const midnight = Date.UTC(2026, 9, 1);
  producer.record(...NINE_CLICKS.map((_, index) => aClick({ ts: midnight - 5 + index })));
  await producer.shipAll();
  await world.untilSettled(producer);
  const rows = await world.facts(
    "select toYYYYMM(ts) as month, count() as clicks from click group by month order by month",
  );
  expect(rows).toEqual([
    { month: 202_609, clicks: 5 },
    { month: 202_610, clicks: 4 },
  ]);
});

test("impressions are stored in their own table", async () => {
  await world.startWriter();
  const producer = world.producer({ lane: IMPRESSION_LANE });
  producer.record({
    ts: Date.now(),
    workspace_id: 1,
    offer_id: 9,
    creative_id: "banner-1",
    country: "DE",
  });
  producer.record({ ts: Date.now(), workspace_id: 1, offer_id: 9 });
  await producer.shipAll();
  await producer.shipAll(1);
  await world.untilSettled(producer);
  expect(await world.counts(IMPRESSION_LANE, "impression")).toEqual({ rows: 2, positions: 2 });
});

test("a table that lost rows is filled again from the stream", async () => {
  const producer = world.producer();
  producer.record(...Array.from({ length: 200 }, () => aClick()));
  const first = await world.startWriter();
  // One insert, whose token ClickHouse remembers longer than its rows.
  await producer.ship(0, 150);
  await world.untilSettled(producer, 150);
  await producer.ship(150, 200);
  await world.untilSettled(producer);
  await first.close();
  await world.clickhouse.command({
    query: "alter table click delete where _position < 160 settings mutations_sync = 2",
  });
  expect((await world.counts()).rows).toBe(40);
  const second = await world.startWriter();
  await until("all rows are there again", async () => (await world.counts()).rows === 200, {
    pollMs: 50,
  });
  expect(metricOf(second.metrics, "clicks_went_back_total")).toBe(1);
  expect(await world.counts()).toEqual({ rows: 200, positions: 200 });
});

test("a JetStream that lost its store loses no click that its producer still has", async () => {
  await world.startWriter();
  const producer = world.producer();
  producer.record(...NINE_CLICKS.map(() => aClick()));
  await producer.ship(0, 5);
  await world.untilSettled(producer, 5);
  const manager = await world.nats.manager();
  await manager.streams.delete(streamOfLane(world.nats, 0));
  await until(
    "the writer has created the stream again",
    async () => (await streamOf(producer)) !== undefined,
    {
      timeoutMs: 90_000,
    },
  );
  await producer.shipAll(3);
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 9, positions: 9 });
});

test("stored positions are read from the projection, not from the rows", async () => {
  await world.startWriter();
  const producer = world.producer();
  producer.record(...NINE_CLICKS.map(() => aClick()));
  await producer.shipAll();
  await world.untilSettled(producer);
  await world.clickhouse.command({ query: "optimize table click final" });
  const lines = await world.facts<{ explain: string }>(
    `explain indexes = 1 ${POSITIONS_QUERY.replace("TABLE", "click")}`,
    { lane: 0 },
  );
  expect(lines.map(({ explain }) => explain).join("\n")).toContain("ReadFromMergeTree (positions)");
});

async function firstOf(query: Parameters<ClickWorld["ask"]>[0]): Promise<unknown> {
  const [row] = (await world.ask(query)).clicks;
  return row === undefined ? undefined : JSON.parse(row);
}

async function streamOf(producer: ClickProducer): Promise<string | undefined> {
  const manager = await world.nats.manager();
  try {
    return await manager.streams.find(world.nats.subjects.clicks(producer.lane));
  } catch {
    // No stream takes the subject now.
    return undefined;
  }
}

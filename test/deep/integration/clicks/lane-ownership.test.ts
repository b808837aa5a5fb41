import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SegmentBuilder } from "../../../../processors/clicks/intake/segment-builder.ts";
import { insertQueryId, raiseFence } from "../../../../processors/clicks/lane/fence.ts";
import { FencedError, insertRows } from "../../../../processors/clicks/lane/insert-rows.ts";
import { LaneLease, takeLanes } from "../../../../processors/clicks/lane/lane-lease.ts";
import { CLICK_TABLE } from "../../../../processors/clicks/rows/lane-table.ts";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf } from "../../../integration/clicks/click-world.ts";
import {
  ClickhouseProxy,
  Gate,
  type InsertFate,
} from "../../../integration/clicks/clickhouse-proxy.ts";
import { testLog } from "../../../services/stores.ts";
import { dependentSignals } from "../../../system/dependent-signals.ts";
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

test("ClickHouse refuses the insert of a writer whose lane has a newer owner", async () => {
  const { signal } = new AbortController();
  const database = world.database.name;
  const insert = (epoch: number, position: number): Promise<unknown> => {
    const line = JSON.stringify(aClick());
    const builder = new SegmentBuilder(
      { producer: 1, epoch: 1 },
      { readAtMs: 0, lineBytes: line.length, rows: 1 },
    );
    builder.add(line, { position, month: 202_601, ts: 0 }, true);
    const segment = builder.finish();
    const of = { table: CLICK_TABLE, lane: 2, writerEpoch: epoch, token: `${epoch}.${position}` };
    const queryId = insertQueryId({ database, lane: 2, epoch }, position);
    const begun = { ...of, queryId, timeoutMs: 5_000, signal, layout: "single" } as const;
    return insertRows(world.clickhouse, begun, segment === undefined ? [] : [segment]);
  };
  const ending = { signal, log: testLog() };
  await raiseFence(world.clickhouse, { database, lane: 2, epoch: 7 }, ending);
  await insert(7, 0);
  await raiseFence(world.clickhouse, { database, lane: 2, epoch: 8 }, ending);
  await expect(insert(7, 1)).rejects.toBeInstanceOf(FencedError);
  await raiseFence(world.clickhouse, { database, lane: 2, epoch: 3 }, ending);
  await expect(insert(3, 1)).rejects.toBeInstanceOf(FencedError);
  await insert(8, 1);
  expect(await world.counts(2)).toEqual({ rows: 2, positions: 2 });
  expect([dependentSignals(signal), getEventListeners(signal, "abort")]).toEqual([0, []]);
});

test("an insert whose answer was lost is not repeated", async () => {
  const writer = await world.startWriter({ clickhouseUrl: proxy.url });
  const producer = world.producer();
  let lost = 0;
  proxy.fateOf = () => (++lost % 2 === 1 && lost < 12 ? "lose-answer" : "pass");
  for (let first = 0; first < 300; first += 10) {
    producer.record(...Array.from({ length: 10 }, () => aClick()));
    await producer.ship(first, first + 10);
    if (first % 100 === 90) await world.untilSettled(producer);
  }
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 300, positions: 300 });
  expect(metricOf(writer.metrics, "clicks_retries_total")).toBeGreaterThan(1);
});

test("rows that a table loses under a running writer return, one unique per visit (P5, G87)", async () => {
  const writer = await world.startWriter({ clickhouseUrl: proxy.url });
  const producer = world.producer();
  const visits = Array.from({ length: 50 }, (_, visitor) => aClick({ visitor }));
  producer.record(...visits, ...visits.map(({ visitor }) => aClick({ visitor: visitor ?? 0 })));
  await producer.ship(0, 50);
  await world.untilSettled(producer, 50);
  await world.clickhouse.command({
    query: "alter table click delete where _position < 30 settings mutations_sync = 2",
  });
  // An insert with an unknown outcome makes the writer read the table.
  proxy.fateOf = () =>
    metricOf(writer.metrics, "clicks_retries_total") === 0 ? "lose-answer" : "pass";
  await producer.ship(50, 100);
  const counts = async (): Promise<{ rows: number; uniques: number; visits: number }> => {
    const [row] = await world.facts<{ rows: number; uniques: number; visits: number }>(
      `select count() as rows, countIf(is_unique) as uniques,
         uniqExactIf(visitor, is_unique) as visits from click`,
    );
    return row ?? { rows: 0, uniques: 0, visits: 0 };
  };
  await until("all rows are there again", async () => (await counts()).rows === 100, PATIENCE);
  expect(await counts()).toEqual({ rows: 100, uniques: 50, visits: 50 });
  expect(metricOf(writer.metrics, "clicks_went_back_total")).toBe(1);
});

test("an insert that reaches ClickHouse after its writer gave it up has no effect", async () => {
  await world.startWriter({ clickhouseUrl: proxy.url });
  const producer = world.producer();
  producer.record(aClick());
  await producer.ship(0, 1);
  await world.untilSettled(producer);
  const gate = new Gate();
  let fate: InsertFate = { holdUntil: gate.opened };
  proxy.fateOf = () => {
    const now = fate;
    fate = "pass";
    return now;
  };
  producer.record(...Array.from({ length: 20 }, () => aClick()));
  await producer.ship(1, 21);
  // A second insert under a new epoch stores the records while the first one is held back.
  await world.untilSettled(producer);
  expect((await world.counts()).rows).toBe(21);
  gate.open();
  await until(
    "ClickHouse has refused the late insert",
    async () => (await refusals(world)) === 1,
    PATIENCE,
  );
  expect(await world.counts()).toEqual({ rows: 21, positions: 21 });
});

test("a writer that loses its lane during an insert writes nothing (P10)", async () => {
  const gate = new Gate();
  const first = await world.startWriter({ clickhouseUrl: proxy.url });
  const producer = world.producer();
  producer.record(aClick());
  await producer.ship(0, 1);
  await world.untilSettled(producer);
  proxy.fateOf = () => ({ holdUntil: gate.opened });
  producer.record(...Array.from({ length: 20 }, () => aClick()));
  await producer.ship(1, 21);
  await until("the insert is held back", () => proxy.inserts >= 2, PATIENCE);
  // Another writer takes the lanes, as after a network partition from Postgres.
  await world.pool.query({
    text: "update lane_lease set owner = 'second', epoch = epoch + 1, expires_at = now() + interval '1 hour'",
  });
  await world.startWriter({ owner: "second" });
  await world.untilSettled(producer);
  gate.open();
  await until(
    "ClickHouse has refused the late insert",
    async () => (await refusals(world)) >= 1,
    PATIENCE,
  );
  expect(await world.counts()).toEqual({ rows: 21, positions: 21 });
  // They share the five lanes now: it keeps at most three.
  await until(
    "the first writer has released lanes",
    () => metricOf(first.metrics, "clicks_lanes") <= 3,
    PATIENCE,
  );
});

test("writers share the lanes, and one that ends releases its lanes at once", async () => {
  const first = await world.startWriter();
  await until(
    "one writer has all lanes",
    () => metricOf(first.metrics, "clicks_lanes") === 5,
    PATIENCE,
  );
  const second = await world.startWriter();
  await until(
    "they share",
    () =>
      metricOf(first.metrics, "clicks_lanes") === 3 &&
      metricOf(second.metrics, "clicks_lanes") === 2,
    PATIENCE,
  );
  const producers = [0, 1, 2, 3].map((lane) => world.producer({ lane }));
  for (const producer of producers) {
    producer.record(aClick({ offer_id: 4 + producer.lane }));
    await producer.shipAll();
    await world.untilSettled(producer);
  }
  const startedAtMs = performance.now();
  await first.close();
  await until(
    "the other writer has all lanes",
    () => metricOf(second.metrics, "clicks_lanes") === 5,
    PATIENCE,
  );
  expect(performance.now() - startedAtMs).toBeLessThan(2_500);
});

test("a process takes over the lanes of the last one with its name without waiting for leases", async () => {
  await world.pool.query({
    text: `insert into lane_lease (lane, owner, epoch, expires_at)
           select lane, 'writer-of-this-host', 41, now() + interval '4 minutes' from unnest(array[0, 1, 2, 3, 100]) as lane`,
  });
  await world.startWriter({ owner: "writer-of-this-host" });
  const producer = world.producer();
  producer.record(aClick());
  await producer.shipAll();
  await world.untilSettled(producer);
  const rows = await world.facts("select _writer_epoch as epoch from click");
  expect(rows).toEqual([{ epoch: 42 }]);
});

test("a dead writer's lease that a wrong clock made an hour too long delays no writer (#11)", async () => {
  await world.pool.query({
    text: `insert into lane_lease (lane, owner, epoch, expires_at)
           select lane, 'dead', 41, now() + interval '1 hour' from unnest(array[0, 1, 2, 3, 100]) as lane`,
  });
  await world.pool.query({
    text: "insert into lane_writer (owner, expires_at) values ('dead', now() + interval '1 hour')",
  });
  const { metrics } = await world.startWriter();
  await expect.poll(() => metricOf(metrics, "clicks_lanes"), { timeout: 20_000 }).toBe(5);
});

test("a Postgres that was restored from a backup does not stop the writers", async () => {
  await world.clickhouse.insert({
    table: "lane_fence",
    values: [{ lane: 0, epoch: 1_000 }],
    format: "JSONEachRow",
  });
  await world.startWriter();
  const producer = world.producer();
  producer.record(aClick());
  await producer.shipAll();
  await world.untilSettled(producer);
  const rows = await world.facts("select _writer_epoch as epoch from click");
  expect(rows).toEqual([{ epoch: 1_001 }]);
});

test("after a restore of Postgres no lane opens while an insert of before it runs (P9)", async () => {
  const query_id = insertQueryId({ database: world.database.name, lane: 0, epoch: 999 }, 1);
  let runs = true;
  // Cannot be interrupted.
  const older = world.clickhouse.query({ query: "select sleep(3)", query_id });
  void older.catch(() => undefined).finally(() => (runs = false));
  const isThere =
    "select count() as found from system.processes where query_id = {query_id: String}";
  await until("the insert runs", async () => {
    const [row] = await world.facts<{ found: number }>(isThere, { query_id });
    return row?.found === 1;
  });
  await world.clickhouse.insert({
    table: "lane_fence",
    values: [{ lane: 0, epoch: 1_000 }],
    format: "JSONEachRow",
  });
  await world.startWriter();
  const producer = world.producer();
  producer.record(aClick());
  await producer.shipAll();
  await world.untilSettled(producer);
  expect(runs).toBe(false);
});

test("after a restore of Postgres an owner that dies early leaves the wait to the next one (P9)", async () => {
  const { pool } = world;
  const leaseMs = 60_000;
  const take = async (owner: string): Promise<LaneLease> => {
    await pool.query({ text: "update lane_lease set expires_at = '-infinity' where lane = 0" });
    const options = { held: [], lanes: [0], limit: 1, leaseMs };
    const [taken] = await takeLanes(pool, owner, options);
    if (taken === undefined) throw new Error("lane 0 is not free");
    return new LaneLease({ db: pool, owner, leaseMs }, { ...taken, askedAtMs: 0 });
  };
  await pool.query({
    text: "insert into lane_lease (lane, lanes) select generate_series(0, 3), 4",
  });
  expect((await take("first")).hasLastIntent).toBe(true);
  const restored = await take("second");
  expect(restored.hasLastIntent).toBe(true);
  await restored.raiseEpoch(1_000);
  expect(restored.hasLastIntent).toBe(false);
  const next = await take("third");
  expect(next.hasLastIntent).toBe(false);
  await next.raiseEpoch(0);
  expect([next.hasLastIntent, (await take("fourth")).hasLastIntent]).toEqual([false, false]);
  const recording = await take("fifth");
  await recording.recordIntent({
    n: 1,
    table: "click",
    month: 202_611,
    ranges: [[1, 1, 0, 0]],
    token: "t",
    home: null,
  });
  expect([recording.hasLastIntent, (await take("sixth")).hasLastIntent]).toEqual([true, true]);
});

/** Inserts of click writers that the server refused because of their epoch. */
async function refusals(of: ClickWorld): Promise<number> {
  const [row] = await of.facts<{ refused: number }>(
    `select count() as refused from system.query_log
     where exception_code = 395 and startsWith(query_id, {prefix: String})`,
    { prefix: `lane-insert:${of.database.name}:` },
  );
  return row?.refused ?? 0;
}

import { afterEach, beforeEach, expect, test } from "vitest";
import { openLog } from "../../../../schemas/host/log.ts";
import { joinStores } from "../../../../schemas/installation/incarnation.ts";
import { StoreWatch } from "../../../../schemas/installation/store-watch.ts";
import { laneConsumers } from "../../../../schemas/nats/lane-consumer.ts";
import { runCommandOn } from "../../../integration/api/run-tracker.ts";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf } from "../../../integration/clicks/click-world.ts";
import { until } from "../../../system/until.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };
const MARGIN = 10_000;
const log = openLog({ process: "test", level: "silent" });

let world: ClickWorld;

beforeEach(async () => {
  world = await ClickWorld.open();
  await joinStores(world.pool, world.clickhouse);
});
afterEach(() => world.close());

function aWatch(): StoreWatch {
  return new StoreWatch({ pool: world.pool, clickhouse: world.clickhouse, log });
}

async function tracker(...args: string[]): Promise<string> {
  return (await runCommandOn(world, args)).result;
}

async function newWorkspace(slug: string): Promise<number> {
  const { rows } = await world.pool.query<{ id: number }>({
    text: "insert into workspace (slug, name, postback_token) values ($1, $1, $1) returning id",
    values: [slug],
  });
  return rows[0]?.id ?? Number.NaN;
}

/** Saves these tables of Postgres; the returned function restores them and the sequences. Other data stays. */
async function takeBackup(): Promise<() => Promise<void>> {
  const tables = ["store_beat", "workspace", "lane_lease", "click_stored", "ingress_producer"];
  for (const name of tables) {
    await world.pool.query({ text: `create table backup_${name} as select * from ${name}` });
  }
  const { rows } = await world.pool.query<{ name: string; value: number }>({
    text: `select sequencename as name, coalesce(last_value, 1) as value from pg_sequences
           where schemaname = current_schema()`,
  });
  return async () => {
    for (const name of tables) {
      await world.pool.query({ text: `delete from ${name}` });
      await world.pool.query({
        text: `insert into ${name} overriding system value select * from backup_${name}`,
      });
    }
    for (const { name, value } of rows) {
      await world.pool.query({ text: "select setval($1::regclass, $2)", values: [name, value] });
    }
  };
}

test("ids allocated after a backup are not allocated again after an unreported restore (#7, P38)", async () => {
  const watch = aWatch();
  await watch.look();
  const restore = await takeBackup();
  const lost = await newWorkspace("made-after-the-backup");
  await world.pool.query({ text: "update store_beat set beat_at = '-infinity'" });
  await watch.look();
  expect(watch.wentBack).toBe(0);

  await restore();
  const [one, other] = [aWatch(), aWatch()];
  await Promise.all([one.look(), other.look()]);
  await until(
    "Postgres has caught up",
    async () => {
      await one.look();
      return one.wentBack + other.wentBack === 1;
    },
    PATIENCE,
  );
  expect(await newWorkspace("made-after-the-restore")).toBeGreaterThanOrEqual(lost + MARGIN);
  // Once per restore, not once per check.
  await one.look();
  expect(await newWorkspace("another")).toBeLessThan(lost + 2 * MARGIN);
});

test("`tracker restored` lifts ids, numbers and epochs above those of ClickHouse and stream (#7)", async () => {
  const restore = await takeBackup();
  const writer = await world.startWriter();
  const producer = world.producer({ lane: 3, producer: 700 });
  producer.record(aClick({ offer_id: 90_003, affiliate_id: 120_000 }));
  await producer.ship(0, 1);
  await world.untilSettled(producer);
  await expect(tracker("restored", "--postgres")).rejects.toThrow(
    /click writers are running \(writer-1\)/,
  );
  await writer.close();
  // Only the stream has this producer.
  await world.producer({ lane: 3, producer: 800 }).idle();
  const before = await world.pool.query<{ epoch: number }>({
    text: "select epoch from lane_lease where lane = 3",
  });
  await restore();

  const output = await tracker("restored", "--both");
  expect(output).toMatch(/Sequence offer_id_seq: \d+ -> 100003$/m);
  expect(output).toMatch(/Sequence affiliate_id_seq: \d+ -> 130000$/m);
  expect(output).toMatch(/Sequence ingress_producer_id_seq: \d+ -> 816$/m);
  expect(output).toMatch(
    /^0 erasures are due again.*Erasures made after the backup are lost: repeat them\.$/m,
  );
  const after = await world.pool.query<{ epoch: number }>({
    text: "select epoch from lane_lease where lane = 3",
  });
  expect(after.rows[0]?.epoch).toBeGreaterThanOrEqual(before.rows[0]?.epoch ?? 0);

  const watch = aWatch();
  await watch.look();
  expect([watch.areSame, watch.wentBack]).toEqual([true, 0]);
  const next = await world.startWriter();
  producer.record(aClick({ offer_id: 3 }));
  await producer.ship(1, 2);
  await world.untilSettled(producer);
  expect(await world.counts(3)).toEqual({ rows: 2, positions: 2 });
  expect(metricOf(next.metrics, "clicks_postgres_went_back_total")).toBe(0);
});

test("after `tracker restored` of both stores writers read the streams from the start (#12, P38)", async () => {
  const restore = await takeBackup();
  const writer = await world.startWriter();
  const producer = world.producer({ lane: 1 });
  for (let count = 0; count < 3; count += 1) producer.record(aClick({ offer_id: 1 }));
  await producer.ship(0, 3);
  await world.untilSettled(producer);
  await writer.close();
  // No store has a record of these clicks; the stream only has acknowledged messages.
  for (const table of ["click", "producer_claim"]) {
    await world.clickhouse.command({ query: `truncate table ${table}` });
  }
  await restore();
  await tracker("restored", "--both");
  await world.startWriter();
  await until(
    "the clicks are stored again",
    async () => (await world.counts(1)).rows > 0,
    PATIENCE,
  );
  expect(await world.counts(1)).toEqual({ rows: 3, positions: 3 });
});

test("a gap before a message without records is no sign that the stores are older (#12, P38)", async () => {
  const first = await world.startWriter();
  const producer = world.producer({ lane: 1 });
  producer.record(...Array.from({ length: 30 }, () => aClick({ offer_id: 1 })));
  await producer.ship(0, 10);
  await producer.ship(20, 30);
  // The last message of the lane: its sender's records before 20 exist, and 10 to 19 have not arrived.
  await producer.ship(20, 20);
  const consumed = async (): Promise<boolean> => {
    const [lane] = await laneConsumers(world.nats, 1);
    return lane?.num_pending === 0 && lane.num_ack_pending === 0;
  };
  await until("all messages are acknowledged", consumed, PATIENCE);
  await first.close();
  const second = await world.startWriter();
  await producer.ship(10, 20);
  await world.untilSettled(producer);
  expect(metricOf(second.metrics, "clicks_went_back_total")).toBe(0);
  expect(await world.counts(1)).toEqual({ rows: 30, positions: 30 });
});

test("a writer with a lane epoch behind ClickHouse's reports it and lifts the ids (#7, P38)", async () => {
  const restore = await takeBackup();
  const first = await world.startWriter();
  const producer = world.producer({ lane: 2 });
  producer.record(aClick({ offer_id: 50_002 }));
  await producer.ship(0, 1);
  await world.untilSettled(producer);
  await first.close();
  await restore();
  // The fence in ClickHouse is higher than the next owner's epoch.
  await world.clickhouse.insert({
    table: "lane_fence",
    values: [{ lane: 2, epoch: 40 }],
    format: "JSONEachRow",
  });
  const second = await world.startWriter();
  await until(
    "the writer has noticed",
    () => metricOf(second.metrics, "clicks_postgres_went_back_total") > 0,
    PATIENCE,
  );
  producer.record(aClick({ offer_id: 2 }));
  await producer.ship(1, 2);
  await world.untilSettled(producer);
  const { rows } = await world.pool.query<{ value: number }>({
    text: "select last_value as value from offer_id_seq",
  });
  expect(rows[0]?.value).toBeGreaterThanOrEqual(50_002 + MARGIN);
});

test("stores that do not belong together are an alarm until `tracker restored` joins them (#7)", async () => {
  const watch = aWatch();
  await watch.look();
  expect(watch.areSame).toBe(true);
  await world.pool.query({ text: "update installation set incarnation = gen_random_uuid()" });
  await watch.look();
  expect(watch.areSame).toBe(false);
  expect(await joinStores(world.pool, world.clickhouse)).toBe(false);
  await expect(tracker("restored")).rejects.toThrow("Say which store was restored");
  await tracker("restored", "--clickhouse");
  await watch.look();
  expect(watch.areSame).toBe(true);
});

import { beforeEach, expect, test } from "vitest";
import { allocateFolderNumber } from "../../../../ingress/journal/allocate-producer.ts";
import { startSchedule } from "../../../../processors/schedule/start.ts";
import { Metrics } from "../../../../schemas/host/metrics.ts";
import {
  type FreedProducers,
  forgetFreeProducers,
  proveFreeProducers,
  readProducerNumbers,
} from "../../../../schemas/installation/free-producers.ts";
import { clicksStreams } from "../../../../schemas/nats/lane-groups.ts";
import { runTracker } from "../../../integration/api/run-tracker.ts";
import { aClick, type ClickProducer } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld } from "../../../integration/clicks/click-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { testLog } from "../../../services/stores.ts";
import { until } from "../../../system/until.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };
const LANE = 1;
/** A minimum of quiet hours that every number meets, also one that was used a moment ago. */
const NOW_HOURS = -2;
/** Columns of a process that ended cleanly. */
const ENDED = { run: "r", run_epoch: 1, host: "edge" };

const world = await forThisFile(ClickWorld.open());
await world.startWriter();
const allocate = allocateFolderNumber(world.pool);

beforeEach(async () => {
  await world.rows("delete from ingress_producer");
});

async function aNumber(id: number, fields: Record<string, unknown> = {}): Promise<void> {
  const row = { ...ENDED, ...fields };
  await world.pool.query({
    text: `insert into ingress_producer (id, host, nonce, run, run_epoch, run_at, given_up_at, quiet_since, free_at, free_above)
           overriding system value values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      id,
      row.host,
      "of its folder",
      row.run,
      row.run_epoch,
      fields["run_at"],
      fields["given_up_at"],
      fields["quiet_since"],
      fields["free_at"],
      fields["free_above"],
    ],
  });
}

/** Moves the time since which numbers are quiet back by eight days. */
async function eightDaysLater(): Promise<void> {
  await world.rows(
    "update ingress_producer set quiet_since = quiet_since - interval '8 days' where quiet_since is not null",
  );
}

async function prove(quietHours?: number): Promise<FreedProducers> {
  const { pool: db, clickhouse, nats } = world;
  return await proveFreeProducers({
    db,
    clickhouse,
    nats,
    ...(quietHours === undefined ? {} : { quietHours }),
  });
}

async function freeNumbers(): Promise<number[]> {
  const rows = await world.rows<{ id: number }>(
    "select id from ingress_producer p where free_at is not null and is_producer_quiet(p) order by id",
  );
  return rows.map(({ id }) => id);
}

/** A producer whose clicks are stored, and noted as stored. */
async function stored(producer: number, clicks: number, epoch = 1): Promise<ClickProducer> {
  const own = world.producer({ lane: LANE, producer, epoch });
  own.record(...Array.from({ length: clicks }, () => aClick({ offer_id: LANE })));
  await own.shipAll();
  await world.untilSettled(own);
  await untilNoted(own, clicks);
  return own;
}

async function untilNoted({ producer, epoch }: ClickProducer, settled: number): Promise<void> {
  const text = "select settled from click_stored where lane = $1 and producer = $2 and epoch = $3";
  await until(
    "the writer has noted its progress",
    async () =>
      (await world.rows<{ settled: number }>(text, [LANE, producer, epoch]))[0]?.settled ===
      settled,
    PATIENCE,
  );
}

test("a number is free only a week after its holder ended, and the epochs begin above the old ones", async () => {
  await stored(21, 3, 700_000_000);
  await aNumber(21, { run_epoch: 5 });
  await world.rows("select setval('ingress_producer_id_seq', 50000)");
  expect(await prove()).toEqual({ freed: [], differing: [], inStream: 0 });
  expect(JSON.parse(await runTracker(world, "producer", "list", "--json"))).toMatchObject([
    { id: 21, state: "ended" },
  ]);
  await eightDaysLater();
  expect(await runTracker(world, "producer", "free")).toBe(
    "1 more numbers may be given out again; 1 in all, beside 15535 that were never used.",
  );
  expect(await runTracker(world, "producer", "list")).toMatch(/21 +edge +free/);
  expect(await readProducerNumbers(world.pool)).toEqual({ fresh: 15_535, free: 1 });
  expect(await prove()).toEqual({ freed: [], differing: [], inStream: 0 });
  // Its folder is still on this machine.
  expect(await allocate("c1", { besides: [21] })).toEqual({ producer: 50_001, lastEpoch: 0 });
  expect(await allocate("c2", { besides: [] })).toEqual({ producer: 21, lastEpoch: 700_000_000 });
  expect(await allocate("c3", { besides: [] })).toEqual({ producer: 50_002, lastEpoch: 0 });
  const [row] = await world.rows("select nonce, run, free_at from ingress_producer where id = 21");
  expect(row).toEqual({ nonce: "c2", run: null, free_at: null });
});

test("a number is not free while one of its records is neither stored nor noted as lost", async () => {
  const own = world.producer({ lane: LANE, producer: 31 });
  own.record(...Array.from({ length: 8 }, () => aClick({ offer_id: LANE })));
  await own.ship(0, 5);
  await own.ship(7, 8);
  await world.untilWatermark(own, ({ next, missing }) => next === 8 && missing.length === 1);
  await untilNoted(own, 6);
  await aNumber(31);
  await prove();
  await eightDaysLater();
  expect(await prove()).toEqual({ freed: [], differing: [31], inStream: 0 });
  expect(await runTracker(world, "producer", "free")).toContain("stored twice");
  await own.ship(5, 6);
  await own.ship(7, 7, { lostFrom: 6 });
  await world.untilSettled(own);
  await untilNoted(own, 8);
  expect(await prove()).toEqual({ freed: [31], differing: [], inStream: 0 });
});

test("a number is not free while the stream has messages from its holder's time", async () => {
  await stored(41, 2);
  await aNumber(41);
  expect(await prove(NOW_HOURS)).toEqual({ freed: [], differing: [], inStream: 1 });
  const manager = await world.nats.manager();
  for (const stream of clicksStreams(world.nats)) await manager.streams.purge(stream);
  expect(await prove(NOW_HOURS)).toEqual({ freed: [41], differing: [], inStream: 0 });
});

const BUSY: readonly (readonly [
  name: string,
  fields: Record<string, unknown>,
  statement: string,
])[] = [
  ["its run may still be alive", { run_at: "now" }, "select"],
  ["its run has not ended and was not given up", { run_at: "2020-01-01" }, "select"],
  ["it came back after it was given up", { run_at: "now", given_up_at: "2020-01-01" }, "select"],
  ["no process has registered it", { run: null }, "select"],
  [
    "a click writer waits for it",
    {},
    "insert into click_producer (lane, producer, epoch, said_ms) values (0, 51, 1, 0)",
  ],
  [
    "it has the right to record a coupon's click",
    {},
    `insert into coupon_click (click_id, conversion_id, click, producer, until_ms, due_at)
     values ('c', gen_random_uuid(), '{}', 51, 0, 'infinity')`,
  ],
];

test.each(BUSY)(
  "a number does not become free, and does not stay free: %s",
  async (_name, fields, statement) => {
    await aNumber(51, fields);
    await world.rows(statement);
    await prove(NOW_HOURS);
    expect(await freeNumbers()).toEqual([]);
    expect(
      await world.rows("select id from ingress_producer where quiet_since is not null"),
    ).toEqual([]);
    await world.rows("delete from ingress_producer");
    await aNumber(51, {
      ...fields,
      quiet_since: "2026-01-01",
      free_at: "2026-01-08",
      free_above: 1,
    });
    await world.rows("select setval('ingress_producer_id_seq', 50000)");
    expect(await allocate("c", { besides: [] })).toMatchObject({ producer: 50_001 });
    await prove(NOW_HOURS);
    const [row] = await world.rows(
      "select quiet_since, free_at from ingress_producer where id = 51",
    );
    expect(row).toEqual({ quiet_since: null, free_at: null });
    await world.rows("delete from click_producer where producer = 51");
    await world.rows("delete from coupon_click where producer = 51");
  },
);

test("a producer that was given up becomes free too; a restore makes every proof void", async () => {
  await aNumber(61, { run_at: "2026-01-01", given_up_at: "2026-01-02" });
  await prove();
  await eightDaysLater();
  expect(await prove()).toEqual({ freed: [61], differing: [], inStream: 0 });
  expect(await freeNumbers()).toEqual([61]);
  expect(await forgetFreeProducers(world.pool)).toBe(1);
  expect(await freeNumbers()).toEqual([]);
});

test("the role schedule finds free numbers by itself, and shows how many are left", async () => {
  await aNumber(65);
  await prove();
  await eightDaysLater();
  await world.rows("select setval('ingress_producer_id_seq', 50000)");
  const { pool, clickhouse, nats } = world;
  const { signal } = new AbortController();
  const deps = { pool, clickhouse, nats, signal, log: testLog() };
  const schedule = startSchedule({ ...deps, metrics: new Metrics() }, { taskTickMs: 50 });
  await until("it is free", async () => (await freeNumbers()).length === 1, PATIENCE);
  await schedule.close();
  // Numbers are read at the start, and then every 30 s.
  const later = new Metrics();
  const last = startSchedule({ ...deps, metrics: later }, { taskTickMs: 50 });
  await until(
    "the numbers are shown",
    () => /producer_numbers_left\{kind="free"\} 1\b/.test(later.render()),
    PATIENCE,
  );
  expect(later.render()).toMatch(/producer_numbers_left\{kind="fresh"\} 15535\b/);
  await last.close();
});

test("normal installations never reuse a number: reuse begins at 50,000", async () => {
  const free = { quiet_since: "2026-01-01", free_at: "2026-01-08", free_above: 9 };
  await aNumber(71, free);
  await world.rows("select setval('ingress_producer_id_seq', 49998)");
  expect(await allocate("a", { besides: [] })).toEqual({ producer: 49_999, lastEpoch: 0 });
  expect(await allocate("b", { besides: [] })).toEqual({ producer: 50_000, lastEpoch: 0 });
  expect(await allocate("c", { besides: [] })).toEqual({ producer: 71, lastEpoch: 9 });
});

test("thousands of starts share few numbers; no two holders ever have one, the oldest free one is next", async () => {
  const [numbers, rounds] = [1_300, 4];
  await world.rows(
    `insert into ingress_producer (id, host, nonce, run, run_epoch) overriding system value
     select n, '', 'first', 'r', 1 from generate_series(1, $1) n`,
    [numbers],
  );
  await world.rows("select setval('ingress_producer_id_seq', 65000)");
  let starts = 0;
  for (let round = 1; round <= rounds; round += 1) {
    // The processes end, and their numbers become free, in another order than by number.
    await prove();
    await world.rows(
      `update ingress_producer set quiet_since = now() - interval '9 days' - (id * 7919 % 1301) * interval '1 minute'
       where quiet_since is not null`,
    );
    expect((await prove()).freed).toHaveLength(numbers);
    await world.rows("update ingress_producer set free_at = quiet_since + interval '8 days'");
    const order = await world.rows<{ id: number }>(
      "select id from ingress_producer where free_at is not null order by free_at, id",
    );
    const taken: number[] = [];
    const start = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        starts += 1;
        taken.push((await allocate(`claim ${starts}`, { besides: [] })).producer);
      }
    };
    await start(50);
    expect(taken).toEqual(order.slice(0, 50).map(({ id }) => id));
    await Promise.all(Array.from({ length: 8 }, async () => await start((numbers - 100) / 8)));
    // One after the other again: a process that finds the last free number locked would take a new one.
    await start(numbers - taken.length);
    expect(new Set(taken).size).toBe(numbers);
    await world.rows("update ingress_producer set run = nonce, run_epoch = $1", [round]);
  }
  expect(starts).toBe(5_200);
  const claims = await world.rows("select distinct nonce from ingress_producer");
  expect(claims).toHaveLength(numbers);
  expect((await allocate("fresh", { besides: [] })).producer).toBe(65_001);
});

test("without a free number the last one is the end, and the error says what to do", async () => {
  await world.rows("select setval('ingress_producer_id_seq', 65534)");
  expect((await allocate("last", { besides: [] })).producer).toBe(65_535);
  await expect(allocate("none", { besides: [] })).rejects.toThrow(/`tracker producer free`/);
  await aNumber(81, { quiet_since: "2026-01-01", free_at: "2026-01-08", free_above: 1 });
  expect((await allocate("again", { besides: [] })).producer).toBe(81);
});

import { afterEach, beforeEach, expect, test } from "vitest";
import { auditReplicas } from "../../../api/cli/audit/replicas.ts";
import { CLOSING_LANE } from "../../../schemas/clickhouse/closing-lane.ts";
import type { Pool } from "../../../schemas/postgres/connect.ts";
import { aClick, type ClickProducer } from "../../integration/clicks/click-producer.ts";
import { metricOf } from "../../integration/clicks/click-world.ts";
import { EnginePair } from "../../services/engine-pair.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { startServers } from "../../services/servers.ts";
import { SEED } from "../../system/seed.ts";
import { pause } from "../../system/service.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";
import { ClickTraffic, trafficExpected } from "../integration/clicks/click-traffic.ts";
import { type Shard, TwoShards } from "./two-shards.ts";

/** Lanes that change their shard while clicks come: each click is stored once over both shards, and each visit is unique once. */

const LANE = 1;
const PATIENCE = { timeoutMs: 60_000, pollMs: 50 };
const MOVES: readonly [lane: number, shard: Shard][] = [
  [0, "2"],
  [1, "1"],
  [2, "2"],
  [0, "1"],
  [0, "2"],
];

const servers = await startServers({ need: ["postgres", "nats"], isMigrated: true });
await forThisFile({ close: () => servers.stop() });
const pair = await forThisFile(
  EnginePair.start({ isMigrated: servers.urls.template !== undefined }),
);

let shards: TwoShards;

beforeEach(async () => {
  shards = await TwoShards.on(pair, servers.urls);
});

afterEach(async () => {
  await shards[Symbol.asyncDispose]();
});

type Row = {
  readonly id: string;
  readonly lane: number;
  readonly position: string;
  readonly isUnique: boolean;
  readonly visit: string;
};

/** All clicks of both shards. */
async function clicks(): Promise<[Row[], Row[]]> {
  return await shards.onBoth<Row>(
    `select hex(click_id) as id, _lane as lane, concat(_lane, '.', _producer, '.', _epoch, '.', _position) as position,
       is_unique as isUnique, concat(offer_id, '/', affiliate_id, '/', visitor) as visit
     from click where _lane != ${CLOSING_LANE}`,
  );
}

/** Ships clicks of new visitors on an offer of the lane. */
async function ship(producer: ClickProducer, count: number): Promise<void> {
  const first = producer.lines.length;
  const visits = Array.from({ length: count }, (_, index) =>
    aClick({ offer_id: 4 + LANE, visitor: 1 + first + index }),
  );
  producer.record(...visits);
  await producer.ship(first, first + count);
}

async function record(producer: ClickProducer, count: number): Promise<void> {
  await ship(producer, count);
  await shards.world.untilSettled(producer);
}

/** How many clicks of the lane each shard has, and how many different positions they have together. */
async function counts(): Promise<{ rows: [number, number]; positions: number }> {
  const [first, second] = await clicks();
  const own = [first, second].map((rows) => rows.filter(({ lane }) => lane === LANE));
  const positions = new Set(own.flat().map(({ position }) => position)).size;
  return { rows: [own[0]?.length ?? 0, own[1]?.length ?? 0], positions };
}

test("lanes are spread over the shards by their number, and stay there", async () => {
  const first = await shards.startWriter();
  const places = async (): Promise<unknown> =>
    await shards.world.rows("select lane, shard from lane_lease where lane < 4 order by lane");
  const expected = ["1", "2", "1", "2"].map((shard, lane) => ({ lane, shard }));
  const isOpen = async (): Promise<boolean> => {
    const [row] = await shards.world.rows("select count(shard) as open from lane_lease");
    return row?.["open"] === 5;
  };
  await until("all lanes are open", isOpen, PATIENCE);
  expect(await places()).toEqual(expected);
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 5);
  await first.close();
  await shards.startWriter();
  await record(producer, 5);
  expect(await places()).toEqual(expected);
  expect(await counts()).toEqual({ rows: [0, 10], positions: 10 });
});

test("lanes that move to and fro under traffic store each click once, and each visit once as unique", async () => {
  let writer = await shards.startWriter();
  const traffic = new ClickTraffic(shards.world, SEED);
  traffic.start();
  for (const [lane, shard] of MOVES) {
    await pause(700);
    await shards.move(lane, shard);
  }
  await writer.close();
  writer = await shards.startWriter();
  await shards.move(1, "2");
  await traffic.stop();
  for (const producer of traffic.producers)
    await shards.world.untilSettled(producer, producer.lines.length, 60_000);
  const [first, second] = await clicks();
  const all = [...first, ...second];
  const { rows, uniques } = trafficExpected(traffic);
  expect([all.length, new Set(all.map(({ id }) => id)).size]).toEqual([rows, rows]);
  expect(new Set(all.map(({ position }) => position)).size).toBe(rows);
  const unique = all.filter(({ isUnique }) => isUnique);
  expect([unique.length, new Set(unique.map(({ visit }) => visit)).size]).toEqual([
    uniques,
    uniques,
  ]);
  expect(first.length > 0 && second.length > 0).toBe(true);
  expect(metricOf(writer.metrics, "clicks_went_back_total")).toBe(0);
});

/** Postgres through which the note of a move fails once: before it is written, or when it is and the answer is lost. */
function failingOnce(pool: Pool, when: "before" | "after"): { pool: Pool; failed: () => number } {
  let failures = 0;
  const query: Pool["query"] = async (config) => {
    const fails = config.name === "note-lane-move" && failures === 0;
    if (fails) failures += 1;
    if (fails && when === "before") throw new Error("the connection was lost");
    const answer = await pool.query<never>(config);
    if (fails) throw new Error("the answer was lost");
    return answer;
  };
  const through: Pool = {
    query,
    connect: async () => await pool.connect(),
    end: async () => await pool.end(),
    onIdleError: (listener) => pool.onIdleError(listener),
  };
  return { pool: through, failed: () => failures };
}

test.each(["before", "after"] as const)(
  "a move whose note fails %s it is written ends on one shard, and no click is lost or twice",
  async (when) => {
    const failing = failingOnce(shards.world.pool, when);
    const first = await shards.startWriter({ pool: failing.pool });
    const producer = shards.world.producer({ lane: LANE });
    await record(producer, 10);
    await shards.move(LANE, "1");
    expect(failing.failed()).toBe(1);
    await record(producer, 10);
    await first.close();
    await shards.startWriter();
    await record(producer, 10);
    const { rows, positions } = await counts();
    expect([rows[0] + rows[1], positions]).toEqual([30, 30]);
    expect(rows[0]).toBe(20);
  },
);

test("an insert frozen before its lane moved is dropped when it goes on", async () => {
  const proxy = shards.proxies["2"];
  const first = await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 5);
  proxy.freeze = ({ lane }) => (lane === LANE ? "before" : undefined);
  await ship(producer, 20);
  await until("the insert is frozen", () => proxy.zombies.length === 1, PATIENCE);
  proxy.freeze = () => undefined;
  await shards.order(LANE, "1");
  const next = first.close().then(async () => await shards.startWriter());
  await shards.untilOn(LANE, "1");
  await next;
  await shards.world.untilSettled(producer);
  await record(producer, 5);
  const before = await counts();
  await proxy.release();
  await record(producer, 5);
  expect(before).toEqual({ rows: [5, 25], positions: 30 });
  expect(await counts()).toEqual({ rows: [10, 25], positions: 35 });
});

test("a lane waits for a shard that it left less than a window ago, and opens without an older one", async () => {
  const first = await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 10);
  await shards.move(LANE, "1");
  await record(producer, 10);
  await first.close();
  shards.proxies["2"].isAway = true;
  const waiting = await shards.startWriter();
  await ship(producer, 10);
  await pause(2_000);
  const stored = (await counts()).rows;
  await waiting.close();
  await shards.world.pool.query({
    text: "update click_left_shard set left_at = now() - interval '9 days'",
  });
  const writer = await shards.startWriter();
  await shards.world.untilSettled(producer);
  expect(stored).toEqual([10, 10]);
  expect(await counts()).toEqual({ rows: [20, 10], positions: 30 });
  expect(metricOf(writer.metrics, "clicks_went_back_total")).toBe(0);
});

test("lanes go on while another shard answers and cannot get what its replicas have", async () => {
  const first = await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 10);
  await first.close();
  // The engine of the first shard refuses the statement, as a replica does that has lost Keeper.
  shards.proxies["1"].servesSync = false;
  await shards.startWriter();
  await record(producer, 10);
  const onFirst = shards.world.producer({ lane: 0 });
  onFirst.record(aClick({ offer_id: 4 }));
  await onFirst.shipAll();
  expect(await counts()).toEqual({ rows: [0, 20], positions: 20 });
  shards.proxies["1"].servesSync = true;
  await shards.world.untilSettled(onFirst);
});

test("a lane opens on the shard of its last insert, if a release without shards made it elsewhere", async () => {
  const first = await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 10);
  await first.close();
  await shards.world.pool.query({
    text: "update lane_lease set shard = '1' where lane = $1",
    values: [LANE],
  });
  await shards.startWriter();
  await record(producer, 10);
  expect(await shards.shardOf(LANE)).toBe("2");
  expect(await counts()).toEqual({ rows: [0, 20], positions: 20 });
});

test("positions on a shard that Postgres forgot about are found there, so no click is stored twice", async () => {
  const first = await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 10);
  await shards.move(LANE, "1");
  await record(producer, 10);
  await first.close();
  // Postgres was restored from a backup of before the move.
  await shards.world.pool.query({
    text: "update lane_lease set shard = '2', intent = null where lane = $1",
    values: [LANE],
  });
  await shards.world.pool.query({ text: "delete from click_left_shard" });
  await shards.startWriter();
  await producer.shipAll();
  await record(producer, 10);
  expect(await counts()).toEqual({ rows: [10, 20], positions: 30 });
});

test("an operator moves a lane with one command, and is told why one cannot be moved", async () => {
  await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 5);
  const run = async (...args: string[]): ReturnType<typeof trackerCommand> =>
    await trackerCommand("unused", ["clickhouse", "move-lane", ...args], shards.commandEnv);
  const refused = await run("1", "--shard", "3");
  expect(refused.code).toBe(1);
  expect(refused.output).toContain("no node of shard 3 answers. These shards answer: 1, 2.");
  expect(await run("77", "--shard", "1")).toMatchObject({ code: 1 });
  expect(await run("one", "--shard", "1")).toMatchObject({ code: 2 });
  expect(await run("1", "--shard", "1")).toEqual({
    code: 0,
    output: "Lane 1 stores new clicks on shard 1 now, and no longer on shard 2.\n",
  });
  expect(await run("1", "--shard", "1")).toEqual({ code: 0, output: "Lane 1 is on shard 1.\n" });
  await record(producer, 5);
  expect(await counts()).toEqual({ rows: [5, 5], positions: 10 });
});

test("rows that one shard stored twice are named, and --repair deletes the second ones there only", async () => {
  const writer = await shards.startWriter();
  const producer = shards.world.producer({ lane: LANE });
  await record(producer, 10);
  await shards.move(LANE, "1");
  await record(producer, 10);
  await writer.close();
  expect((await shards.audit()).output).toMatch(/clicks +equal/);
  await shards.onShard(
    "2",
    `insert into click select * from click where _lane = ${LANE} and _position < 3`,
  );
  const named = await shards.audit();
  expect(named.output).toContain(
    `lane ${LANE}, producer 1 (epoch 1): 3 rows too many, stored twice`,
  );
  const repaired = await shards.audit("--repair");
  expect(repaired.output).toContain("3 rows deleted that were stored twice");
  expect(await counts()).toEqual({ rows: [10, 10], positions: 20 });
});

test("replicas of one shard with different numbers of rows are named with their month", async () => {
  // The engines stand for two replicas of one shard.
  const nodes = (["1", "2"] as const).map((shard, index) => ({
    home: `1-${index === 0 ? "a" : "b"}`,
    shard: "1",
    node: shards.clients[shard],
  }));
  const rows = `insert into click (_lane, _producer, _epoch, _position, ts)
    select 0, 1, 1, number, toDateTime64('2026-03-01 12:00:00', 3, 'UTC') from numbers(7)`;
  await shards.onShard("1", rows);
  await shards.onShard("2", rows.replace("numbers(7)", "numbers(5)"));
  const { signal } = new AbortController();
  expect(await auditReplicas(nodes, signal)).toMatchObject({
    outcome: "differs",
    details: [
      "click of 202603 on shard 1: 7 on 1-a, 5 on 1-b. If it stays so, look at system.replication_queue of the node that has fewer.",
    ],
  });
  await shards.onShard("2", rows.replace("number,", "5 + number,").replace("(7)", "(2)"));
  expect(await auditReplicas(nodes, signal)).toMatchObject({ outcome: "equal" });
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { StoredClick } from "../../../api/traffic/clicks/click-row.ts";
import { selectClick, selectClicks } from "../../../api/traffic/clicks/clicks.ts";
import { isClickIpCrowded } from "../../../processors/conversions/attribute/count-clicks.ts";
import { StoredAdClicks } from "../../../processors/conversions/attribute/stored-ad-clicks.ts";
import { StoredClicks } from "../../../processors/conversions/attribute/stored-clicks.ts";
import { type Clickhouse, openClickhouse } from "../../../schemas/clickhouse/connect.ts";
import { isClickhouseAway } from "../../../schemas/clickhouse/errors.ts";
import { migrateClickhouse } from "../../../schemas/clickhouse/migrate.ts";
import { aggregateFromQuorum, selectFromQuorum } from "../../../schemas/clickhouse/read-quorum.ts";
import { aClick } from "../../samples/a-click-record.ts";
import { EnginePair, THREE_REPLICAS, TWO_REPLICAS } from "../../services/engine-pair.ts";
import { forThisFile } from "../../services/for-this-file.ts";

const AT_MS = Date.UTC(2025, 1, 3);
const DAY_MS = 86_400_000;
const CLICK = aClick({
  workspace_id: 7,
  offer_id: 5,
  ip: "203.0.113.7",
  gclid: "on-both-replicas",
  click_payout: "99999999999999.0001",
  visitor: 2 ** 52 - 1,
  is_bot: true,
  sub1: `it\\'s "näme" 	{"a": [1]}`,
  destination: "https://shop.example/?q=1,2&r=%5B",
});
const TYPES = {
  ts: "Int64",
  workspace_id: "UInt32",
  link_type: "String",
  status: "String",
  offer_id: "UInt32",
  affiliate_id: "UInt32",
  ip: "String",
  gclid: "String",
  click_payout: "Decimal(18, 4)",
  visitor: "UInt64",
  is_bot: "Bool",
  sub1: "String",
  destination: "String",
} as const;
const SCOPE = { role: "staff", workspaceId: CLICK.workspace_id } as const;

const pair = await forThisFile(EnginePair.start({ isMigrated: true }));
const [first, second] = pair.engines;
/** The clicks are by turns on the first engine, on the second, and on both. */
const clicks = Array.from({ length: 6 }, (_, index) => {
  const ts = AT_MS + index * 1_000;
  return { ...CLICK, ts, click_id: clickIdAt(ts) };
});
const newestFirst = clicks.map(({ click_id }) => click_id).toReversed();
const unknownId = clickIdAt(AT_MS + 3_600_000);

const onFirst = await open(first.url);
const onSecond = await open(second.url);
for (const [engine, client] of [onFirst, onSecond].entries()) {
  await migrateClickhouse({ url: pair.engines[engine === 0 ? 0 : 1].url });
  for (const [index, click] of clicks.entries())
    if (index % 3 === engine || index % 3 === 2) await store(client, click);
}
const three = await open(first.url, THREE_REPLICAS);
const two = await open(first.url, TWO_REPLICAS);
for (const client of [three, two]) await connectEngines(client);

async function open(url: string, cluster?: string): Promise<Clickhouse> {
  return await forThisFile(openClickhouse({ url, cluster, applicationName: "test" }));
}

/**
 * Opens the connections from the first engine to the second without the short time limits of a look-up: the embedded engine ends with an
 * exception when a connection is broken off.
 */
async function connectEngines(client: Clickhouse): Promise<void> {
  const answer = await client.query({
    query: `select count() as nodes from clusterAllReplicas('${client.cluster?.name ?? ""}', system.one)
      settings skip_unavailable_shards = 1`,
    format: "JSONEachRow",
  });
  expect(await answer.json()).toEqual([{ nodes: 2 }]);
}

async function store(client: Clickhouse, click: typeof CLICK): Promise<void> {
  const names = Object.keys(TYPES);
  const values = Object.entries(TYPES).map(([name, type]) =>
    name === "ts" ? "fromUnixTimestamp64Milli({ts: Int64}, 'UTC')" : `{${name}: ${type}}`,
  );
  await client.command({
    query: `insert into click (click_id, ${names.join(", ")}) select unhex({click_id: String}), ${values.join(", ")}`,
    query_params: click,
  });
}

function clickIdAt(ts: number): string {
  return ts.toString(16).padStart(12, "0").padEnd(32, "0");
}

async function list(client: Clickhouse, limit: number): Promise<StoredClick[]> {
  const range = { fromMs: AT_MS, toMs: AT_MS + DAY_MS, filters: [], after: undefined };
  return await selectClicks(client, StoredClick, { scope: SCOPE, ...range, limit });
}

async function findInProcessor(client: Clickhouse, clickId: string): Promise<unknown> {
  const stored = new StoredClicks(client, { workspaces: new Map([[SCOPE.workspaceId, true]]) });
  return await stored.find(clickId, Number.parseInt(clickId.slice(0, 12), 16));
}

async function findByAdId(client: Clickhouse, value: string): Promise<unknown> {
  return await new StoredAdClicks(client, { flushesMax: 1 }).find({
    kind: "gclid",
    value,
    workspaceIds: [SCOPE.workspaceId],
    offerId: 0,
  });
}

async function isCrowded(client: Clickhouse, clicksMax: number): Promise<boolean | "away"> {
  const [click] = clicks;
  return await isClickIpCrowded({ clickhouse: client }, click, { clicksMax, atMs: AT_MS + 60_000 });
}

describe("one shard of three replicas, of which one is away and two have different clicks", () => {
  test("each click is found by its id, and an unknown id is known to be unknown", async () => {
    for (const { click_id, ts, sub1 } of clicks) {
      const found = await selectClick(three, SCOPE.workspaceId, {
        clickId: click_id,
        isOld: false,
      });
      expect(found).toMatchObject({ click_id, ts, sub1 });
      expect(await findInProcessor(three, click_id)).toMatchObject({ click_id, ts, sub1 });
    }
    const unknown = { clickId: unknownId, isOld: false };
    expect(await selectClick(three, SCOPE.workspaceId, unknown)).toBeUndefined();
    expect(await findInProcessor(three, unknownId)).toBeUndefined();
  });

  test("a list has the newest clicks of both, each once and in order", async () => {
    const ids = async (limit: number): Promise<string[]> =>
      (await list(three, limit)).map(({ click_id }) => click_id);
    expect(await ids(100)).toEqual(newestFirst);
    expect(await ids(4)).toEqual(newestFirst.slice(0, 4));
  });

  test("each field of a click is the same as when one server is asked", async () => {
    const one = await list(onFirst, 100);
    expect(one.map(({ click_id }) => click_id)).toEqual(
      [5, 3, 2, 0].map((at) => clicks[at]?.click_id),
    );
    const { click_id: _, ts: __, may_be_unique: ___, ...fields } = CLICK;
    expect(one[0]).toMatchObject(fields);
    const ofQuorum = await list(three, 100);
    expect(ofQuorum.filter((click) => one.some(({ ts }) => ts === click.ts))).toEqual(one);
  });

  test("the latest click with an ad-platform ID is found on the replica that has it", async () => {
    const ts = AT_MS + 20_000;
    await store(onSecond, { ...CLICK, ts, click_id: clickIdAt(ts), gclid: "once" });
    expect(await findByAdId(three, "once")).toMatchObject([{ click_id: clickIdAt(ts) }]);
    expect(await findByAdId(three, CLICK.gclid)).toMatchObject([{ click_id: newestFirst[0] }]);
    expect(await findByAdId(three, "nobody's")).toEqual([]);
  });

  test("clicks of an address are counted once, whichever replicas have them", async () => {
    const others = { ...CLICK, ip: "203.0.113.8" };
    for (const [at, client] of [onFirst, onSecond].entries())
      for (const index of [at, at + 1, at + 2]) {
        const ts = AT_MS + 30_000 + index;
        await store(client, { ...others, ts, click_id: clickIdAt(ts) });
      }
    const counted = { ...others, ts: AT_MS + 30_000, click_id: clickIdAt(AT_MS + 30_000) };
    const crowded = async (clicksMax: number): Promise<boolean | "away"> =>
      await isClickIpCrowded({ clickhouse: three }, counted, { clicksMax, atMs: AT_MS + 60_000 });
    expect(await crowded(3)).toBe(true);
    expect(await crowded(4)).toBe(false);
  });

  test("more rows than may be read are an error, not a part of them", async () => {
    const statement = {
      name: "test.rows",
      select: "select number from system.numbers limit 11",
      columns: ["number"],
      params: {},
      timeoutMs: 90_000,
    };
    const Row = z.object({ number: z.int() });
    expect(await selectFromQuorum(three, { ...statement, rowsMax: 11 }, Row)).toHaveLength(22);
    await expect(selectFromQuorum(three, { ...statement, rowsMax: 10 }, Row)).rejects.toThrow(
      /more rows on 127\.0\.0\.\d:\d+ than may be read/,
    );
    const aggregates = "uniqExactArray(found) as numbers";
    const Numbers = z.object({ numbers: z.int() });
    expect(await aggregateFromQuorum(three, { ...statement, aggregates }, Numbers)).toMatchObject({
      numbers: 11,
    });
  });
});

/** The engine that has half of the clicks does not come back, so no test may follow. */
test("without another replica, two of three are too few and one of two is enough", async () => {
  process.kill(second.pid, "SIGKILL");
  await second.exited;
  const unknown = { clickId: unknownId, isOld: false };
  const faults = await Promise.all(
    [list(three, 100), selectClick(three, SCOPE.workspaceId, unknown)].map(
      async (answer) =>
        await answer.then(
          () => undefined,
          (fault: unknown) => fault,
        ),
    ),
  );
  expect(faults.map(isClickhouseAway)).toEqual([true, true]);
  expect(String(faults[0])).toMatch(
    /needs answers of 2 replicas of shard 1; .*: 127\.0\.0\.3:\d+, 127\.0\.0\.2:\d+$/,
  );
  expect(await findInProcessor(three, unknownId)).toBe("away");
  expect(await findByAdId(three, CLICK.gclid)).toBe("away");
  expect(await isCrowded(three, 100)).toBe("away");
  // What one replica has is still found.
  expect(await findInProcessor(three, clickIdAt(AT_MS))).toMatchObject({ ts: AT_MS });

  expect((await list(two, 2)).map(({ ts }) => ts)).toEqual([AT_MS + 30_002, AT_MS + 30_001]);
  expect(await selectClick(two, SCOPE.workspaceId, unknown)).toBeUndefined();
  expect(await findInProcessor(two, unknownId)).toBeUndefined();
  expect(await findByAdId(two, CLICK.gclid)).toMatchObject([{ ts: AT_MS + 30_002 }]);
  expect(await isCrowded(two, 100)).toBe(false);
});

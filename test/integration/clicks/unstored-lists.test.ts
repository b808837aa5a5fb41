import { expect, test } from "vitest";
import { StoredClick } from "../../../api/clicks/click-row.ts";
import type { ClickFilter } from "../../../api/clicks/clicks.ts";
import { searchClicks } from "../../../api/clicks/search-clicks.ts";
import { readProcessorSettings } from "../../../processors/settings.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { until } from "../../system/until.ts";
import { aClick, type ClickProducer } from "./click-producer.ts";
import { ClickWorld, metricOf } from "./click-world.ts";
import { ClickhouseProxy, Gate } from "./clickhouse-proxy.ts";

const FLOOD = 30_000;
const RARE: ClickFilter = { column: "sub1", type: "String", value: "no click has it" };

/** The newest 100 clicks that the API lists, answered until now. */
async function idsIn(
  { clickhouse, nats, pool: db }: ClickWorld,
  asked: { workspaceId: number; filters: ClickFilter[]; fromMs: number },
): Promise<string[]> {
  const { workspaceId, filters, fromMs } = asked;
  const nowMs = Date.now() - 1;
  const found = await searchClicks({ clickhouse, nats, nowMs, db }, StoredClick, {
    scope: { role: "staff", workspaceId },
    fromMs,
    toMs: nowMs,
    filters,
    after: undefined,
    limit: 100,
  });
  return found.map(({ click_id }) => click_id);
}

/** Each of these has no traffic in its lane. Returns how to stop them. */
function idleInAllLanes(world: ClickWorld, busy: ClickProducer): () => void {
  const others = FOUR_LANES.clicks.filter((lane) => lane !== busy.lane);
  const all = [busy, ...others.map((lane) => world.producer({ lane }))];
  const heart = setInterval(() => {
    for (const one of all) void one.idle();
  }, 100);
  return () => clearInterval(heart);
}

test("a workspace's list is complete while another floods the lane and ClickHouse takes no rows (G162)", async () => {
  const world = await ClickWorld.open();
  const proxy = await ClickhouseProxy.open(world.database.clickhouseUrl);
  world.atEnd(async () => await proxy.close());
  const writer = await world.startWriter({ clickhouseUrl: proxy.url, leaseMs: 60_000 });
  const producer = world.producer();
  const startMs = Date.now() - 60_000;
  const clickOf = (workspace_id: number, ms: number): ReturnType<typeof aClick> =>
    aClick({ workspace_id, ts: startMs + ms });
  const clicks = [clickOf(2, 0), clickOf(2, 0), clickOf(1, 1), clickOf(2, 2)];
  producer.record(...clicks);
  await producer.shipAll();
  await world.untilSettled(producer);
  const gate = new Gate();
  proxy.fateOf = () => ({ holdUntil: gate.opened });
  // The clicks of workspace 2 lie among those of workspace 1; a message has clicks of both.
  const flood = Array.from({ length: FLOOD }, (_, n) => clickOf(n % 1_000 === 500 ? 2 : 1, 3 + n));
  producer.record(...flood);
  clicks.push(...flood);
  for (let from = 4; from < clicks.length; from += 1_000)
    await producer.ship(from, Math.min(from + 1_000, clicks.length));
  await until(
    "the lane has read all clicks",
    () => metricOf(writer.metrics, "clicks_waiting_rows") === FLOOD,
    { pollMs: 25 },
  );
  expect(metricOf(writer.metrics, "clicks_list_index_bytes")).toBeGreaterThan(FLOOD);
  const stop = idleInAllLanes(world, producer);
  const idsOf = (workspaceId: number): unknown[] =>
    clicks
      .filter((click) => click["workspace_id"] === workspaceId)
      .toReversed()
      .map((click) => click["click_id"]);
  const list = async (workspaceId: number, filters: ClickFilter[] = []): Promise<string[]> =>
    await idsIn(world, { workspaceId, filters, fromMs: startMs });
  expect(await list(2)).toEqual(idsOf(2));
  expect(await list(1)).toEqual(idsOf(1).slice(0, 100));
  expect(await list(2, [RARE])).toEqual([]);
  await expect(list(1, [RARE])).rejects.toMatchObject({ code: "unavailable" });
  expect(await world.counts()).toEqual({ rows: 4, positions: 4 });
  gate.open();
  await world.untilSettled(producer);
  expect(await list(2)).toEqual(idsOf(2));
  expect(await world.counts()).toEqual({ rows: clicks.length, positions: clicks.length });
  expect(metricOf(writer.metrics, "clicks_list_index_bytes")).toBe(0);
  stop();
  await world.close();
});

test("YOUNG_CLICKS_BYTES and CLICK_LIST_ROWS_MAX bound a lane's memory and the rows read for a page", async () => {
  const world = await ClickWorld.open();
  const { clicks } = readProcessorSettings({
    ...world.environment("limits"),
    YOUNG_CLICKS_BYTES: "1048576",
    CLICK_LIST_ROWS_MAX: "1000",
  });
  const { youngBytesMax, listRowsMax } = clicks;
  const proxy = await ClickhouseProxy.open(world.database.clickhouseUrl);
  world.atEnd(async () => await proxy.close());
  const writer = await world.startWriter({
    clickhouseUrl: proxy.url,
    leaseMs: 60_000,
    youngBytesMax,
    listRowsMax,
  });
  const producer = world.producer();
  const fromMs = Date.now() - 60_000;
  producer.record(...Array.from({ length: 8_000 }, (_, n) => aClick({ ts: fromMs + n })));
  await producer.shipAll();
  await world.untilSettled(producer);
  expect(metricOf(writer.metrics, "clicks_young_bytes")).toBeLessThan(1_048_576);
  expect(metricOf(writer.metrics, "clicks_young")).toBeGreaterThan(1_000);
  const gate = new Gate();
  proxy.fateOf = () => ({ holdUntil: gate.opened });
  producer.record(...Array.from({ length: 1_001 }, (_, n) => aClick({ ts: fromMs + n })));
  await producer.ship(8_000, 9_001);
  const stop = idleInAllLanes(world, producer);
  await until(
    "the lane has read all clicks",
    () => metricOf(writer.metrics, "clicks_waiting_rows") === 1_001,
    { pollMs: 25 },
  );
  const asked = { workspaceId: 1, filters: [RARE], fromMs };
  await expect(idsIn(world, asked)).rejects.toMatchObject({ code: "unavailable" });
  expect(await idsIn(world, { ...asked, filters: [] })).toHaveLength(100);
  gate.open();
  await world.untilSettled(producer);
  expect(await idsIn(world, asked)).toEqual([]);
  stop();
  await world.close();
});

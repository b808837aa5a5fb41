import { expect, test } from "vitest";
import { StoredClick } from "../../../api/clicks/click-row.ts";
import type { ClickFilter } from "../../../api/clicks/clicks.ts";
import { searchClicks } from "../../../api/clicks/search-clicks.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { until } from "../../system/until.ts";
import { aClick } from "./click-producer.ts";
import { ClickWorld, metricOf } from "./click-world.ts";
import { ClickhouseProxy, Gate } from "./clickhouse-proxy.ts";

const FLOOD = 30_000;
const RARE: ClickFilter = { column: "sub1", type: "String", value: "no click has it" };

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
    { timeoutMs: 20_000, pollMs: 25 },
  );
  expect(metricOf(writer.metrics, "clicks_list_index_bytes")).toBeGreaterThan(FLOOD);
  // As an idle ingress does in every lane.
  const others = FOUR_LANES.clicks.slice(1).map((lane) => world.producer({ lane }));
  const heart = setInterval(() => {
    for (const one of [producer, ...others]) void one.idle();
  }, 100);
  const idsOf = (workspaceId: number): unknown[] =>
    clicks
      .filter((click) => click["workspace_id"] === workspaceId)
      .toReversed()
      .map((click) => click["click_id"]);
  const list = async (workspaceId: number, filters: ClickFilter[] = []): Promise<string[]> => {
    const nowMs = Date.now() - 1;
    const { clickhouse, nats, pool: db } = world;
    const found = await searchClicks({ clickhouse, nats, nowMs, db }, StoredClick, {
      scope: { role: "staff", workspaceId },
      fromMs: startMs,
      toMs: nowMs,
      filters,
      after: undefined,
      limit: 100,
    });
    return found.map(({ click_id }) => click_id);
  };
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
  clearInterval(heart);
  await world.close();
});

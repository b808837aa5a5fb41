import { expect, test } from "vitest";
import { StoredClick } from "../../../../api/traffic/clicks/click-row.ts";
import type { ClickSearch } from "../../../../api/traffic/clicks/clicks.ts";
import {
  listClicksOf,
  readCompleteUntil,
  searchAdClicks,
} from "../../../../api/traffic/clicks/search-clicks.ts";
import { readProcessorSettings } from "../../../../processors/settings.ts";
import { aClick, type ClickProducer } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf } from "../../../integration/clicks/click-world.ts";
import { ClickhouseProxy, Gate } from "../../../integration/clicks/clickhouse-proxy.ts";
import { FOUR_LANES } from "../../../samples/four-lanes.ts";
import { until } from "../../../system/until.ts";

const FLOOD = 30_000;

type Asked = Pick<ClickSearch, "scope" | "fromMs">;

/** The newest 100 clicks with the ad ID `flood` that the API finds, answered until now. */
async function found({ clickhouse, nats, pool: db }: ClickWorld, asked: Asked): Promise<string[]> {
  const nowMs = Date.now() - 1;
  const adId = { kind: "gclid", value: "flood" } as const;
  const search = { ...asked, toMs: nowMs, adId, limit: 100 };
  const rows = await searchAdClicks({ clickhouse, nats, nowMs, db }, StoredClick, search);
  return rows.map(({ click_id }) => click_id);
}

/** The newest 100 clicks of the list, and until when it has all of them. */
async function listed(
  { clickhouse, nats, pool: db }: ClickWorld,
  asked: Asked,
): Promise<{ ids: string[]; completeUntilMs: number | undefined }> {
  const nowMs = Date.now() - 1;
  const search = { ...asked, toMs: nowMs, filters: [], after: undefined, limit: 100 };
  const completeUntilMs = await readCompleteUntil({ db, nats, nowMs }, search);
  const rows = await listClicksOf({ clickhouse, nowMs }, StoredClick, search);
  return { ids: rows.map(({ click_id }) => click_id), completeUntilMs };
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

test("while ClickHouse takes no rows, lists say until when and ad IDs find every click (G162, G264)", async () => {
  const world = await ClickWorld.open();
  const proxy = await ClickhouseProxy.open(world.database.clickhouseUrl);
  world.atEnd(async () => await proxy.close());
  const writer = await world.startWriter({ clickhouseUrl: proxy.url, leaseMs: 60_000 });
  const producer = world.producer();
  const fromMs = Date.now() - 60_000;
  const clickOf = (workspace_id: number, ms: number): ReturnType<typeof aClick> =>
    aClick({ workspace_id, ts: fromMs + ms, gclid: "flood" });
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
  const stop = idleInAllLanes(world, producer);
  const of = (workspaceId: number): Asked => ({ scope: { role: "staff", workspaceId }, fromMs });
  const idsOf = (workspaceId: number, among = clicks): unknown[] =>
    among
      .filter((click) => click["workspace_id"] === workspaceId)
      .toReversed()
      .map((click) => click["click_id"]);
  expect(await found(world, of(2))).toEqual(idsOf(2));
  const nobody = { role: "partner", workspaceId: 2, ownerId: 999 } as const;
  expect(await found(world, { scope: nobody, fromMs })).toEqual([]);
  // Too many for one answer: they are found as soon as they are stored.
  await expect(found(world, of(1))).rejects.toMatchObject({ code: "unavailable" });
  // The oldest click that waits is the first one of the flood.
  const completeUntilMs = fromMs + 3;
  expect(await listed(world, of(2))).toEqual({
    ids: idsOf(2, clicks.slice(0, 4)),
    completeUntilMs,
  });
  expect(await world.counts()).toEqual({ rows: 4, positions: 4 });
  gate.open();
  await world.untilSettled(producer);
  await until(
    "the list has everything until now",
    async () => ((await listed(world, of(2))).completeUntilMs ?? 0) > fromMs + 60_000,
    { pollMs: 50 },
  );
  expect((await listed(world, of(2))).ids).toEqual(idsOf(2));
  expect(await found(world, of(2))).toEqual(idsOf(2));
  expect(await found(world, of(1))).toEqual(idsOf(1).slice(0, 100));
  expect(await world.counts()).toEqual({ rows: clicks.length, positions: clicks.length });
  stop();
  await world.close();
});

test("a list does not wait for a lane without a writer, and says that it does not know (G264)", async () => {
  const world = await ClickWorld.open();
  const list = await listed(world, { scope: { role: "staff", workspaceId: 1 }, fromMs: 0 });
  expect(list).toEqual({ ids: [], completeUntilMs: undefined });
  await world.close();
});

test("YOUNG_CLICKS_BYTES bounds the memory of a lane", async () => {
  const world = await ClickWorld.open();
  const { clicks } = readProcessorSettings({
    ...world.environment("limits"),
    YOUNG_CLICKS_BYTES: "1048576",
  });
  const { youngBytesMax } = clicks;
  const writer = await world.startWriter({ leaseMs: 60_000, youngBytesMax });
  const producer = world.producer();
  producer.record(...Array.from({ length: 8_000 }, () => aClick({ ts: Date.now() })));
  await producer.shipAll();
  await world.untilSettled(producer);
  expect(metricOf(writer.metrics, "clicks_young_bytes")).toBeLessThan(1_048_576);
  expect(metricOf(writer.metrics, "clicks_young")).toBeGreaterThan(1_000);
  await world.close();
});

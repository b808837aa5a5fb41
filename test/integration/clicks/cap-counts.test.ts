import { afterEach, expect, test } from "vitest";
import { aCatalog } from "../../samples/a-catalog.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { pause } from "../../system/service.ts";
import { until } from "../../system/until.ts";
import { aClick } from "./click-producer.ts";
import { ClickWorld, type Writer } from "./click-world.ts";
import { ClickhouseProxy } from "./clickhouse-proxy.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 20 };
const SPAN_MS = 400;
/** Each with its own days, weeks and months. */
const ZONES = Array.from({ length: 10 }, (_, hours) => `Etc/GMT-${hours}`);

const world = await forThisFile(ClickWorld.open());
const proxy = await forThisFile(ClickhouseProxy.open(world.database.clickhouseUrl));
const counted = new Set<string>();
world.nats.connection.subscribe(world.nats.subjects.clickTotals, {
  callback: (_error, message) => {
    for (const { cap } of message.json<{ totals: { cap: string }[] }>().totals) counted.add(cap);
  },
});
let writer: Writer | undefined;
afterEach(async () => {
  proxy.fateOf = () => "pass";
  proxy.fateOfCount = () => "pass";
  await writer?.close();
});

test("a statement that fails stops only the caps that it counts (TRK-030)", async () => {
  const offers = [{ id: 400, caps: { clicks: { total: 9, daily: 9 } } }];
  proxy.fateOfCount = (fromMs) => (fromMs === 0 ? "lose-answer" : "pass");
  writer = await world.startWriter({ catalog: aCatalog({ offers }), clickhouseUrl: proxy.url });
  const producer = world.producer();
  producer.record(aClick({ offer_id: 400 }));
  await producer.shipAll();
  await until("the daily cap is counted", () => counted.has("offer/400/clicks/daily"), PATIENCE);
  expect(counted).not.toContain("offer/400/clicks/total");
  proxy.fateOfCount = () => "pass";
  await until("so is the other", () => counted.has("offer/400/clicks/total"), PATIENCE);
});

test("an insert waits at most 5 s for slow counts, and not for all of them (TRK-030)", async () => {
  const workspaces = ZONES.map((timezone, i) => ({ id: i + 1, timezone }));
  const limits = { daily: 9, weekly: 9, monthly: 9 };
  const offers = workspaces.map(({ id }) => ({
    id: 1_000 * id,
    workspace_id: id,
    code: `SHOP${id}`,
    caps: { clicks: limits },
  }));
  let counts = 0;
  let countsBeforeInsert: number | undefined;
  proxy.fateOfCount = () => {
    counts += 1;
    return { holdUntil: pause(SPAN_MS) };
  };
  proxy.fateOf = () => {
    countsBeforeInsert ??= counts;
    return "pass";
  };
  writer = await world.startWriter({
    catalog: aCatalog({ workspaces, offers }),
    clickhouseUrl: proxy.url,
  });
  const producer = world.producer({ producer: 2 });
  producer.record(aClick({ offer_id: 1_000 }));
  await until("the first count is under way", () => counts > 0, PATIENCE);
  await producer.shipAll();
  await world.untilSettled(producer);
  expect(countsBeforeInsert).toBeLessThan(ZONES.length * 2);
  await until("all are counted", () => counts >= ZONES.length * 3, PATIENCE);
});

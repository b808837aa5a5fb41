import { afterEach, expect, test } from "vitest";
import { noteClickMoney } from "../../../../processors/clicks/caps/note-click-money.ts";
import {
  counterCapsOf,
  selectReachedCaps,
} from "../../../../processors/conversions/record/reached-caps.ts";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, type Writer } from "../../../integration/clicks/click-world.ts";
import { ClickhouseProxy } from "../../../integration/clicks/clickhouse-proxy.ts";
import { aCatalog } from "../../../samples/a-catalog.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { pause } from "../../../system/service.ts";
import { until } from "../../../system/until.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 20 };
const SPAN_MS = 400;
/** Each zone has its own days, weeks and months. */
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

test("money caps know what unique clicks cost, once, through restarts and repeats (#36, G71, G232, P20)", async () => {
  const perClick = { payout_type: "cpc", payout: "0.3000", currency: "EUR" } as const;
  const caps = { payout: { daily: "1.5000", total: "9.0000" } };
  const catalog = aCatalog({
    advertisers: [{ budget_caps: { revenue: { total: "100.0000" } } }],
    offers: [
      { id: 500, code: "A", ...perClick, revenue_type: "rpc", revenue: "0.5000", caps },
      { id: 504, code: "B", ...perClick, currency: "USD", revenue_type: "rpc", revenue: "0.7000" },
    ],
  });
  const noted = (): Promise<unknown> =>
    world.rows("select cap, offer_id, amount from cap_click_money order by cap, offer_id");
  const paid = (fields: Record<string, string | number>) => ({
    click_payout: "0.3000",
    click_revenue: "0.5000",
    currency: "EUR",
    offer_id: 500,
    ...fields,
  });
  const producer = world.producer({ producer: 3 });
  for (let visitor = 1; visitor <= 3; visitor += 1)
    producer.record(aClick(paid({ visitor })), aClick(paid({ visitor })));
  producer.record(
    aClick(paid({ offer_id: 504, click_revenue: "0.7000", currency: "USD" })),
    // Recorded before the offer changed its currency.
    aClick(paid({ offer_id: 504 })),
    aClick({ offer_id: 500 }),
    aClick(paid({ ts: Date.now() - 2 * 86_400_000 })),
  );
  // The first writer counts what it reads, the second also what is stored already.
  for (const part of [4, producer.lines.length]) {
    writer = await world.startWriter({ catalog });
    await producer.ship(0, part);
    await world.untilSettled(producer, part);
    if (part === 4) {
      await until(
        "the first clicks are noted",
        async () => JSON.stringify(await noted()).includes('"0.6000"'),
        PATIENCE,
      );
      await writer.close();
    }
  }
  const expected = [
    { cap: "advertiser/1/revenue/total/EUR", offer_id: 500, amount: "2.0000" },
    { cap: "advertiser/1/revenue/total/USD", offer_id: 504, amount: "0.7000" },
    { cap: "offer/500/payout/daily/EUR", offer_id: 500, amount: "0.9000" },
    { cap: "offer/500/payout/total/EUR", offer_id: 500, amount: "1.2000" },
  ];
  const isSame = async (): Promise<boolean> =>
    JSON.stringify(await noted()) === JSON.stringify(expected);
  await until("all clicks are noted", isSame, PATIENCE).catch(() => undefined);
  expect(await noted()).toEqual(expected);
  await noteClickMoney(world.pool, [
    {
      cap: "offer/500/payout/daily/EUR",
      offerId: 500,
      period: "daily",
      timezone: "UTC",
      atMs: Date.now(),
      amount: 3_000n,
    },
  ]);
  // A writer that lost its lane comes late with a lower total.
  expect(await noted()).toEqual(expected);
  const reached = async (): Promise<readonly string[]> =>
    (await selectReachedCaps(world.pool, counterCapsOf(catalog), Date.now())).map(({ cap }) => cap);
  expect(await reached()).toEqual([]);
  // Two more: 1.50 of 1.50 are spent, so no further click fits.
  const first = producer.record(aClick(paid({ visitor: 8 })), aClick(paid({ visitor: 9 })));
  await producer.ship(first, first + 2);
  await until("the cap is reached", async () => (await reached()).length > 0, PATIENCE);
  expect(await reached()).toEqual(["offer/500/payout/daily/EUR"]);
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

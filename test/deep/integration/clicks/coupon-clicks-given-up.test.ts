import { afterEach, beforeEach, expect, test } from "vitest";
import {
  giveUpProducer,
  readProducers,
} from "../../../../api/workspace/system/status/producers.ts";
import { findClickById } from "../../../../processors/conversions/attribute/find-click.ts";
import { StoredClicks } from "../../../../processors/conversions/attribute/stored-clicks.ts";
import { startCouponClicks } from "../../../../processors/conversions/record/coupon-clicks.ts";
import { Catalog } from "../../../../schemas/catalog/catalog.ts";
import { CatalogFeed } from "../../../../schemas/catalog-feed/follow.ts";
import { CouponClickOrder } from "../../../../schemas/events/coupon-click.ts";
import { openLog } from "../../../../schemas/host/log.ts";
import { Metrics } from "../../../../schemas/host/metrics.ts";
import { ClickIdMint } from "../../../../schemas/ids/click-id.ts";
import { systemClock } from "../../../../schemas/time/clock.ts";
import type { ClickProducer } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld } from "../../../integration/clicks/click-world.ts";
import { until } from "../../../system/until.ts";

const MINUTE_MS = 60_000;
const PATIENCE = { timeoutMs: 60_000, pollMs: 100 };
const LANE = 1;
const log = openLog({ process: "test", level: "silent" });

let world: ClickWorld;
let catalog: Catalog;
let live: ClickProducer;
let dead: ClickProducer;
let clickId = "";
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  world = await ClickWorld.open();
  await world.pool.query({
    text: `insert into workspace (slug, name, postback_token) values ('acme', 'Acme', 'acme-token')`,
  });
  await world.pool.query({
    text: `insert into ingress_producer (id, host) overriding system value values (11, 'edge-1'), (12, 'edge-2')`,
  });
  catalog = new Catalog();
  const feed = await CatalogFeed.start({ catalog, db: world.pool, log, metrics: new Metrics() });
  closers.push(() => feed.close());
  live = world.producer({ lane: LANE, producer: 11 });
  dead = world.producer({ lane: LANE, producer: 12 });
  const mint = new ClickIdMint({ producer: 12, secret: catalog.secret, clock: systemClock });
  clickId = mint.mint(Date.now() - 20 * MINUTE_MS, LANE);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await world.close();
});

/** Published by a running producer in epoch 1: no earlier epoch is open. */
const RUNNING = { endedBefore: 1 };

function couponClick() {
  return {
    click_id: clickId,
    ts: Number.parseInt(clickId.slice(0, 12), 16),
    workspace_id: 1,
    offer_id: LANE,
    advertiser_id: 1,
    affiliate_id: 3,
    domain: "trk.example",
  };
}
const recordedCoupon = () => ({ ...couponClick(), link_type: "coupon", status: "none" });

/** The conversion of a coupon is committed, and its ingress (12) died before it shipped the click in its journal. */
async function awaitCouponClick(): Promise<void> {
  await world.pool.query({
    text: `insert into coupon_click (click_id, conversion_id, click, producer, until_ms)
           values ($1, gen_random_uuid(), $2::jsonb, 12, $3)`,
    values: [clickId, JSON.stringify(couponClick()), Date.now() - 19 * MINUTE_MS],
  });
  dead.record(recordedCoupon());
}

/** Starts a conversion processor and an ingress (11) that records clicks which another one did not. */
function startTakingOver(): void {
  const { subjects, connection } = world.nats;
  connection.subscribe(subjects.couponClickTaker, {
    callback: (_error, message) => void message.respond(JSON.stringify({ producer: 11 })),
  });
  connection.subscribe(subjects.couponClick(11), {
    callback: (_error, message) => {
      CouponClickOrder.parse(message.json());
      const at = live.record(recordedCoupon());
      void live.ship(at, at + 1, { endedBefore: 1 });
    },
  });
  const coupons = startCouponClicks({
    pool: world.pool,
    nats: world.nats,
    log,
    clock: systemClock,
    metrics: new Metrics(),
    storedClicks: new StoredClicks(world.clickhouse, catalog),
    signal: new AbortController().signal,
  });
  closers.push(() => coupons.close());
}

async function stored(): Promise<unknown> {
  return await world.facts(
    `select lower(hex(click_id)) as id, link_type, _producer as producer from click where _lane = ${LANE}`,
  );
}

async function untilNoneIsMissing(): Promise<void> {
  await until(
    "no click of a coupon is missing",
    async () => {
      await live.idle(Date.now(), RUNNING);
      const { rows } = await world.pool.query({ text: "select click_id from coupon_click" });
      return rows.length === 0;
    },
    PATIENCE,
  );
}

const ONCE = () => [{ id: clickId, link_type: "coupon", producer: 11 }];

/** The dead ingress starts again and ships its journal. */
async function shipLate(): Promise<void> {
  await dead.ship(0, 1, { at: Date.now() - 19 * MINUTE_MS, endedBefore: 1 });
  await dead.idle(Date.now(), RUNNING);
  await world.untilSettled(dead);
}

test("a coupon's click is recorded once when its ingress is given up and returns (#9, TRK-037)", async () => {
  const writer = await world.startWriter();
  await dead.idle(Date.now() - 30 * MINUTE_MS, RUNNING);
  await live.idle(Date.now(), RUNNING);
  await awaitCouponClick();
  startTakingOver();
  await until(
    "the silent producer is noted",
    async () => (await silentOnes()).includes(12),
    PATIENCE,
  );
  // The producer is not given up yet: its journal may still return, so no other process may record the click.
  const { rows } = await world.pool.query({ text: "select producer from coupon_click" });
  expect(rows).toEqual([{ producer: 12 }]);

  await giveUpProducer(world.pool, 12);
  await untilNoneIsMissing();
  expect(await stored()).toEqual(ONCE());
  await shipLate();
  expect(await stored()).toEqual(ONCE());

  // Another owner of the lane reads all messages again and must not store it, either.
  await writer.close();
  await world.startWriter();
  await shipLate();
  await live.idle(Date.now(), RUNNING);
  await world.untilSettled(live);
  expect(await stored()).toEqual(ONCE());
});

async function silentOnes(): Promise<number[]> {
  const producers = await readProducers(world.pool);
  return producers.flatMap(({ id, state }) => (state === "silent" ? [id] : []));
}

test("PRODUCER_PATIENCE_HOURS applies to coupons, lookups and later owners of a lane (#9)", async () => {
  const first = await world.startWriter({ producerPatienceMs: 10 * MINUTE_MS });
  const sources = {
    nats: world.nats,
    catalog,
    clock: systemClock,
    storedClicks: new StoredClicks(world.clickhouse, catalog),
  };
  await dead.idle(Date.now() - 9 * MINUTE_MS, RUNNING);
  await live.idle(Date.now(), RUNNING);
  await until(
    "the silent producer is noted",
    async () => (await silentOnes()).includes(12),
    PATIENCE,
  );
  expect(await findClickById(sources, clickId)).toEqual({ kind: "unavailable" });

  await awaitCouponClick();
  startTakingOver();
  await first.close();
  const producerPatienceMs = 8 * MINUTE_MS;
  const second = await world.startWriter({ producerPatienceMs });
  await until(
    "the producer is given up without a command",
    async () => {
      await live.idle(Date.now(), RUNNING);
      return (await readProducers(world.pool, 12))[0]?.state === "given up";
    },
    PATIENCE,
  );
  await untilNoneIsMissing();
  expect(await stored()).toEqual(ONCE());
  await shipLate();
  expect(await stored()).toEqual(ONCE());

  const lost = new ClickIdMint({ producer: 12, secret: catalog.secret, clock: systemClock }).mint(
    Date.now() - 5 * MINUTE_MS,
    LANE,
  );
  await second.close();
  await world.pool.query({ text: "delete from click_producer where producer = 12" });
  await world.startWriter({ producerPatienceMs });
  await until(
    "a click that was lost with it is unknown, also to the next owner of the lane",
    async () => (await findClickById(sources, lost)).kind === "none",
    PATIENCE,
  );
});

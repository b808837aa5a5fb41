import { expect, test } from "vitest";
import { highestLane } from "../../../../api/cli/restored-store.ts";
import { readShare } from "../../../../processors/clicks/lane/lane-share.ts";
import {
  raiseLanes,
  readWaitingLanes,
  restoreLanes,
} from "../../../../schemas/installation/lane-count.ts";
import { aClick, type ClickProducer } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld } from "../../../integration/clicks/click-world.ts";
import { aCatalog, SECRET } from "../../../samples/a-catalog.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };
/** Longer than a split takes when nothing holds it back. */
const HELD_MS = 4_000;
/** Lane 1 of four lanes, lane 5 of eight. */
const OFFER = 5;

const world = await forThisFile(ClickWorld.open());

function raised(lanes: number): Parameters<ReturnType<typeof aCatalog>["apply"]>[0] {
  return [{ kind: "installation", id: "1", version: 9, record: { id: 1, secret: SECRET, lanes } }];
}

/** A running ingress publishes its position and the number of lanes that it uses, until the test ends. */
function running(lanes: () => number, ...producers: readonly ClickProducer[]): () => Promise<void> {
  const said = (): Promise<void>[] =>
    producers.map(async (one) => await one.idle(Date.now(), { endedBefore: 1, lanes: lanes() }));
  const timer = setInterval(() => void Promise.allSettled(said()), 100);
  return async () => {
    clearInterval(timer);
    await Promise.allSettled(said());
  };
}

type Row = { readonly lane: number; readonly visitor: number; readonly is_unique: boolean };

async function storedVisits(): Promise<Row[]> {
  return await world.facts<Row>(
    "select _lane as lane, toUInt32(visitor) as visitor, is_unique from click where offer_id = {offer: UInt32} order by lane, visitor",
    { offer: OFFER },
  );
}

test("a lane that was added waits for an ingress that is away, and then no visit is unique twice", async () => {
  const catalog = aCatalog();
  await world.startWriter({ catalog });
  let lanes = 4;
  const near = world.producer({ lane: 1, producer: 1 });
  const nearInNew = world.producer({ lane: 5, producer: 1 });
  const away = world.producer({ lane: 1, producer: 2 });
  const lost = world.producer({ lane: 1, producer: 3 });
  near.record(aClick({ offer_id: OFFER, visitor: 1 }));
  await near.ship(0, 1, { endedBefore: 1, lanes });
  for (const one of [away, lost]) await one.idle(Date.now(), { endedBefore: 1, lanes });
  await world.untilSettled(near);
  // They answered clicks that are only in their journals.
  away.record(aClick({ offer_id: OFFER, visitor: 2 }));
  lost.record(aClick({ offer_id: OFFER, visitor: 3 }));

  await raiseLanes(world.pool, 8);
  catalog.apply(raised(8));
  lanes = 8;
  const stopNear = running(() => lanes, near, nearInNew);
  nearInNew.record(...[1, 2, 3].map((visitor) => aClick({ offer_id: OFFER, visitor })));
  await nearInNew.ship(0, 3, { endedBefore: 1, lanes });
  await new Promise((resolve) => {
    setTimeout(resolve, HELD_MS);
  });
  expect(await readWaitingLanes(world.pool, 8)).toContain(5);
  expect((await storedVisits()).map(({ lane }) => lane)).toEqual([1]);

  // One comes back with its journal; the other is given up, as `tracker producer give-up` does.
  await away.ship(0, 1, { endedBefore: 1, lanes });
  await world.pool.query({ text: "delete from click_producer where lane = 1 and producer = 3" });
  const stopAway = running(() => lanes, away);
  await until(
    "lane 5 is open",
    async () => !(await readWaitingLanes(world.pool, 8)).includes(5),
    PATIENCE,
  );
  await world.untilSettled(nearInNew);
  await world.untilSettled(away);
  // Its journal was found after all. Nobody is paid for its click, because lane 5 has found another one of the visitor unique.
  await lost.ship(0, 1, { endedBefore: 1, lanes });
  await world.untilSettled(lost);
  await stopNear();
  await stopAway();
  expect(await storedVisits()).toEqual([
    { lane: 1, visitor: 1, is_unique: true },
    { lane: 1, visitor: 2, is_unique: true },
    { lane: 1, visitor: 3, is_unique: false },
    { lane: 5, visitor: 1, is_unique: false },
    { lane: 5, visitor: 2, is_unique: false },
    { lane: 5, visitor: 3, is_unique: true },
  ]);
  await expect(raiseLanes(world.pool, 16)).rejects.toThrow(/lanes [0-9, ]+ still wait/);
}, 90_000);

test("after a restore of Postgres to before a raise, each lane finds its clicks in all lanes that had them", async () => {
  const stores = await ClickWorld.open();
  try {
    const { pool, clickhouse } = stores;
    await pool.query({
      text: "insert into lane_lease (lane, lanes) select generate_series(0, 3), 4",
    });
    expect(await restoreLanes(pool, 3)).toEqual({ from: 4, to: 4 });
    expect(await restoreLanes(pool, 13)).toEqual({ from: 4, to: 16 });
    expect(await restoreLanes(pool, 13)).toEqual({ from: 16, to: 16 });
    expect(await readWaitingLanes(pool, 16)).toEqual([]);
    expect((await readShare(pool, 13, 16))?.sources).toEqual([13, 5, 1]);
    expect((await readShare(pool, 1, 16))?.sources).toEqual([1]);
    expect(await highestLane(clickhouse)).toBe(-1);
    const producer = stores.producer({ lane: 2 });
    await stores.startWriter();
    producer.record(aClick({ offer_id: 2 }));
    await producer.shipAll();
    await stores.untilSettled(producer);
    expect(await highestLane(clickhouse)).toBe(2);
  } finally {
    await stores.close();
  }
}, 60_000);

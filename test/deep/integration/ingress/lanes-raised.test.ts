import { expect, test } from "vitest";
import { Lanes } from "../../../../schemas/events/lanes.ts";
import { clickIdParts } from "../../../../schemas/ids/click-id.ts";
import { raiseLanes, readWaitingLanes } from "../../../../schemas/installation/lane-count.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";
import { TwoIngressWorld } from "./two-ingress-world.ts";

const PATIENCE = { timeoutMs: 60_000, pollMs: 50 };
const EIGHT = new Lanes(8);
const CODES = Array.from({ length: 8 }, (_, index) => `RAISED${index}`);

const world = await forThisFile(TwoIngressWorld.open());

test("an ingress without NATS stays with the lanes that it has announced, and no visit is unique twice", async () => {
  const ids = await world.addOffers(CODES);
  const offers = CODES.map((code, index) => ({ code, id: ids[index] ?? 0 }));
  const moved = offers.filter(({ id }) => EIGHT.ofOffer(id) >= 4);
  const laneOf = (clickId: string): number => clickIdParts(clickId).shard;
  for (const { code } of offers) await world.click("a", code, 1);

  await world.gate("a").shut();
  await raiseLanes(world.store.pool, 8);
  await world.untilCurrent();
  for (const { code, id } of moved) {
    await until(
      "the other ingress uses eight lanes",
      async () => laneOf((await world.click("b", code, 1)).clickId) === EIGHT.ofOffer(id),
      PATIENCE,
    );
    await world.click("b", code, 2);
    for (const visitor of [1, 2, 3])
      expect(laneOf((await world.click("a", code, visitor)).clickId)).toBe(id % 4);
  }
  expect(await readWaitingLanes(world.store.pool, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);

  await world.gate("a").open();
  await until(
    "every lane is open",
    async () => (await readWaitingLanes(world.store.pool, 8)).length === 0,
    PATIENCE,
  );
  for (const { code, id } of offers) {
    await until(
      "both use eight lanes",
      async () => laneOf((await world.click("a", code, 3)).clickId) === EIGHT.ofOffer(id),
      PATIENCE,
    );
    await world.stored(code);
    const visits = await world.store.facts<{ uniques: number }>(
      "select toUInt32(countIf(is_unique)) as uniques from click where offer_id = {id: UInt32} group by visitor",
      { id },
    );
    expect(visits.map(({ uniques }) => uniques)).toEqual(visits.map(() => 1));
    expect(visits).toHaveLength(moved.some((offer) => offer.id === id) ? 3 : 2);
  }
}, 180_000);

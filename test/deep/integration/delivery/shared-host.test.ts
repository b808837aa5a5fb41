import { afterEach, expect, test } from "vitest";
import { DeliveryWorld } from "../../../integration/delivery/delivery-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const world = await forThisFile(DeliveryWorld.open());
world.receiver.answer((response, { target }) => {
  if (!target.startsWith("/hang")) response.end();
});
afterEach(async () => {
  await world.stopLanes();
  await world.tracking.rows("delete from delivery");
});

const GOOD = 20;
const CONVERSIONS = 12;

/** Postbacks of one offer, all on the host and port of the receiver. */
async function addPostbacks(offerId: number, prefix: string, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1)
    await world.addPostback(offerId, { url: world.url(`${prefix}-${n}`) });
}

const arrivedGood = (): number =>
  world.receiver.received.filter(({ target }) => target.startsWith("/good")).length;

test("10 hanging endpoints delay none of 20 others on the same host and port (#20, G204)", async () => {
  const offerId = await world.tracking.addOffer();
  await addPostbacks(offerId, "hang", 10);
  await addPostbacks(offerId, "good", GOOD);
  for (let n = 0; n < CONVERSIONS; n += 1) await world.convert(offerId);
  world.startLane();
  const all = GOOD * CONVERSIONS;
  // Before the first hanging request times out (10 s).
  await until("every delivery to the 20 has arrived", () => arrivedGood() >= all, {
    timeoutMs: 9_000,
    pollMs: 20,
  });
  // The ten now use all slots that they may: later deliveries still find slots.
  await world.convert(offerId);
  await until("the next conversion has arrived too", () => arrivedGood() >= all + GOOD, {
    pollMs: 20,
  });
  expect(arrivedGood()).toBe(all + GOOD);
}, 60_000);

test("a webhook on the host and port of 10 hanging webhooks gets its documents (#20, G204)", async () => {
  for (let n = 0; n < 10; n += 1) await world.addWebhook(`hang-webhook-${n}`);
  await world.addWebhook("prompt-webhook");
  const offerId = await world.tracking.addOffer();
  for (let n = 0; n < CONVERSIONS; n += 1) await world.convert(offerId);
  world.startLane();
  expect(await world.told("prompt-webhook", CONVERSIONS)).toHaveLength(CONVERSIONS);
  await world.tracking.rows("update webhook set active = false");
}, 60_000);

test("70 hanging endpoints leave half of their host's slots to the others (#20, G204)", async () => {
  const hanging = await world.tracking.addOffer();
  await addPostbacks(hanging, "hang-70", 70);
  await world.convert(hanging);
  world.startLane({ waitsMs: [1, 1, 1] });
  await until(
    "each has used a slot until its timeout once",
    async () =>
      (await world.tracking.rows("select from delivery where attempts < 2 and error = ''"))
        .length === 0,
    { timeoutMs: 40_000 },
  );
  const offerId = await world.tracking.addOffer();
  await addPostbacks(offerId, "good-late", 1);
  const before = arrivedGood();
  await world.convert(offerId);
  await until("the other endpoint of the host was sent to", () => arrivedGood() > before, {
    pollMs: 20,
  });
  expect(arrivedGood()).toBe(before + 1);
}, 60_000);

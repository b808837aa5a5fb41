import { expect, test } from "vitest";
import { aClick, type ClickProducer } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf, type Writer } from "../../../integration/clicks/click-world.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const world = await forThisFile(ClickWorld.open());

async function shipped(
  at: { lane: number; producer: number; epoch: number },
  nonce: string,
  clicks: number,
): Promise<ClickProducer> {
  const producer = world.producer(at);
  producer.record(...Array.from({ length: clicks }, () => aClick({ offer_id: at.lane })));
  await producer.ship(0, clicks, { nonce });
  return producer;
}

async function untilRefused(writer: Writer, records: number): Promise<void> {
  await until(
    "the second start is refused",
    () => metricOf(writer.metrics, "clicks_foreign_records_total") >= records,
    { pollMs: 25 },
  );
}

test("a second start with the number and epoch of another one is refused (#7)", async () => {
  const at = { lane: 1, producer: 5, epoch: 3 };
  const first = await world.startWriter();
  const own = await shipped(at, "own", 10);
  await world.untilSettled(own);
  const copy = await shipped(at, "other", 30);
  await untilRefused(first, 30);
  // The watermark has the nonce of the first one, so the second one's journal deletes nothing.
  const mark = await world.untilWatermark(own, ({ nonce }) => nonce !== undefined);
  expect(mark).toMatchObject({ next: 10, missing: [], nonce: "own" });
  expect(await world.counts(1)).toEqual({ rows: 10, positions: 10 });
  await first.close();

  // Postgres was restored to an older state, and a new writer reads the whole stream again.
  await world.pool.query({ text: "delete from click_stored" });
  world.forgetWatermarks();
  const second = await world.startWriter();
  await copy.ship(0, 30, { nonce: "other" });
  await untilRefused(second, 30);
  expect(await world.counts(1)).toEqual({ rows: 10, positions: 10 });

  // Its records are shipped under another number, and each counts.
  const moved = world.producer({ ...at, producer: 6 });
  moved.lines.push(...copy.lines);
  await moved.ship(0, 30, { nonce: "other" });
  await world.untilSettled(moved);
  expect(await world.counts(1)).toEqual({ rows: 40, positions: 40 });
  await second.close();
});

test("two starts of a copied journal both count, records of the original once (#7)", async () => {
  const lane = 2;
  const writer = await world.startWriter();
  const original = await shipped({ lane, producer: 7, epoch: 100 }, "a", 20);
  await world.untilSettled(original);
  // The copy ships its records of the original's epoch, then its own epoch; so does the original.
  await original.ship(0, 15, { nonce: "a" });
  const copy = await shipped({ lane, producer: 7, epoch: 105 }, "b", 7);
  original.record(aClick({ offer_id: lane }));
  await original.ship(20, 21, { nonce: "a" });
  await world.untilSettled(copy);
  await world.untilSettled(original);
  expect(await world.counts(lane)).toEqual({ rows: 28, positions: 28 });
  expect(metricOf(writer.metrics, "clicks_foreign_records_total")).toBe(0);
  await writer.close();
});

test("a producer without nonces is accepted before and after one that has them (#7, P39)", async () => {
  const lane = 3;
  const writer = await world.startWriter();
  const old = world.producer({ lane, producer: 8, epoch: 2 });
  old.record(aClick({ offer_id: lane }), aClick({ offer_id: lane }), aClick({ offer_id: lane }));
  await old.ship(0, 1);
  await old.ship(1, 2, { nonce: "new" });
  await old.ship(2, 3);
  await world.untilSettled(old);
  expect(await world.counts(lane)).toEqual({ rows: 3, positions: 3 });
  await writer.close();
});

import { expect, test } from "vitest";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld, metricOf } from "../../../integration/clicks/click-world.ts";
import { aCatalog, apply } from "../../../samples/a-catalog.ts";
import { forThisFile } from "../../../services/for-this-file.ts";
import { until } from "../../../system/until.ts";

const HOUR_MS = 3_600_000;
const OFFER = 4;
const PATIENCE = { timeoutMs: 90_000, pollMs: 50 };

const world = await forThisFile(ClickWorld.open());

test("a longer unique_click_hours applies at once and loses or repeats no click (#3)", async () => {
  const catalog = aCatalog({ offers: [{ id: OFFER, unique_click_hours: 1 }] });
  const first = await world.startWriter({ catalog });
  const producer = world.producer();
  const visitors = Array.from({ length: 50 }, (_, n) => 1_000 + n);
  const click = (visitor: number, ageMs: number): void => {
    producer.record(aClick({ offer_id: OFFER, visitor, ts: Date.now() - ageMs }));
  };
  for (const visitor of visitors) click(visitor, 30 * HOUR_MS);
  click(1, HOUR_MS);
  await producer.shipAll();
  await world.untilSettled(producer);
  const uniques = async (): Promise<number> => {
    const [row] = await world.facts<{ uniques: number }>(
      "select countIf(is_unique) as uniques from click where offer_id = {offer: UInt32}",
      { offer: OFFER },
    );
    return row?.uniques ?? 0;
  };
  expect(await uniques()).toBe(visitors.length + 1);
  // The next writer reads the visits of the shorter window only.
  await first.close();
  const writer = await world.startWriter({ catalog });
  click(1, 0);
  await producer.shipAll();
  await world.untilSettled(producer);
  apply(catalog, { offers: [{ id: OFFER, unique_click_hours: 72 }] });
  // The writer applies the window once a click is not unique because of a stored one of 30 hours ago.
  let probes = 0;
  await until(
    "the longer window is in force",
    async () => {
      const before = await uniques();
      click(visitors[probes % visitors.length] ?? 0, 0);
      probes += 1;
      await producer.ship(producer.lines.length - 1, producer.lines.length);
      await world.untilSettled(producer);
      return (await uniques()) === before;
    },
    PATIENCE,
  );
  // With the old window, every visitor would be unique once more.
  expect(probes).toBeLessThan(visitors.length);
  const before = await uniques();
  for (const visitor of visitors) click(visitor, 0);
  await producer.shipAll();
  await world.untilSettled(producer);
  expect(await uniques()).toBe(before);
  expect(await world.counts()).toEqual({
    rows: producer.lines.length,
    positions: producer.lines.length,
  });
  await writer.close();
});

test("metrics show the visits that a full lane forgot, and the age of its oldest one (#3)", async () => {
  const catalog = aCatalog({ offers: [{ id: OFFER + 1, unique_click_hours: 24 }] });
  const writer = await world.startWriter({ catalog, uniquesMax: 1_000 });
  await until("the writer has lanes", () => metricOf(writer.metrics, "clicks_lanes") > 0, PATIENCE);
  const producer = world.producer({ lane: 1, producer: 2 });
  for (let visitor = 0; visitor < 3_000; visitor += 1) {
    producer.record(aClick({ offer_id: OFFER + 1, visitor }));
  }
  await producer.shipAll();
  await world.untilSettled(producer);
  expect(metricOf(writer.metrics, "clicks_uniques_forgotten_total")).toBeGreaterThanOrEqual(2_000);
  expect(writer.metrics.render()).toMatch(/clicks_oldest_visit_seconds\{lane="1"\} \d/);
});

import { expect, test } from "vitest";
import { aClick } from "../../../integration/clicks/click-producer.ts";
import { ClickWorld } from "../../../integration/clicks/click-world.ts";
import { until } from "../../../system/until.ts";

test("a click is found at once, however many messages wait for ClickHouse (P12)", async () => {
  const world = await ClickWorld.open();
  await world.startWriter();
  const producer = world.producer();
  await producer.idle();
  await world.untilWatermark(producer, () => true);
  await world.clickhouse.command({ query: "rename table click to click_away" });
  const last = aClick();
  producer.record(...Array.from({ length: 4_999 }, () => aClick()), last);
  // A quiet service has a message for each click.
  for (let from = 0; from < 5_000; from += 100) {
    const singly = Array.from({ length: 100 }, async (_, i) => {
      await producer.ship(from + i, from + i + 1);
    });
    await Promise.all(singly);
  }
  const byId = { by: "id", shard: 0, clickId: String(last["click_id"]) } as const;
  await until("the last click is found", async () => (await world.ask(byId)).clicks.length > 0, {
    pollMs: 25,
  });
  await world.clickhouse.command({ query: "rename table click_away to click" });
  await world.untilSettled(producer);
  expect(await world.counts()).toEqual({ rows: 5_000, positions: 5_000 });
  await world.close();
});

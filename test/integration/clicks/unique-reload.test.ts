import { expect, test } from "vitest";
import { aCatalog } from "../../samples/a-catalog.ts";
import { FOUR_LANES } from "../../samples/four-lanes.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { aClick } from "./click-producer.ts";
import { ClickWorld } from "./click-world.ts";

const OFFER = 4;

const world = await forThisFile(ClickWorld.open());

test("the next writer of a lane reads the clicks of its windows, and not those of all months", async () => {
  const [perMonth, months, lane] = [20_000, 12, OFFER % FOUR_LANES.count];
  await world.clickhouse.command({
    query: `insert into click (_lane, _producer, _epoch, _position, click_id, ts, is_unique, offer_id, visitor)
      select {lane: UInt8}, 900, 1, number, toString(number),
        now64(3) - toIntervalDay(intDiv(number, {perMonth: UInt32}) * 31 + 2), 1, {offer: UInt32}, number
      from numbers({rows: UInt32})`,
    query_params: { lane, perMonth, offer: OFFER, rows: perMonth * months },
    clickhouse_settings: { max_partitions_per_insert_block: "100" },
  });
  const catalog = aCatalog({ offers: [{ id: OFFER, unique_click_hours: 24 }] });
  const writer = await world.startWriter({ catalog });
  const producer = world.producer({ lane, producer: 3 });
  producer.record(aClick());
  await producer.shipAll();
  await world.untilSettled(producer);
  await world.clickhouse.command({ query: "system flush logs query_log" });
  const [row] = await world.facts<{ read: number }>(
    `select sum(read_rows) as read from system.query_log
     where current_database = currentDatabase() and type = 'QueryFinish' and query_kind = 'Select'
       and like(query, '%is_unique%') and like(query, concat('%_lane IN _CAST([', toString({lane: UInt8}), ']%'))`,
    { lane },
  );
  // The newest click is looked for in two months, and the windows are read after that.
  expect(row?.read).toBeGreaterThanOrEqual(perMonth);
  expect(row?.read).toBeLessThan(perMonth * 5);
  await writer.close();
});

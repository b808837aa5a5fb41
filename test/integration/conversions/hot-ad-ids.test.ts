import { describe, expect, test } from "vitest";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

/** Enough that reading all of them differs clearly from reading one granule of each part. */
const EQUAL = 300_000;
const HOT = "abc123";

const world = await forThisFile(TrackingWorld.open());
world.startWriters();
const [one, two, unused] = [await world.addOffer(), await world.addOffer(), await world.addOffer()];
await addEqualClicks(EQUAL);
// A merge writes the index of the latest clicks.
await world.clickhouse.command({ query: "optimize table click final" });
await world.nats.connection.flush();

/** One insert makes one part: an hour of clicks, every tenth without an offer, one with an ID that no other has. */
async function addEqualClicks(count: number): Promise<void> {
  await world.clickhouse.command({
    query: `insert into click (workspace_id, ts, click_id, link_type, status, advertiser_id, affiliate_id, offer_id, gclid, sub1)
      with {endMs: Int64} - intDiv(({count: UInt64} - number) * 3600000, {count: UInt64}) as at
      select {workspaceId: UInt32}, fromUnixTimestamp64Milli(at, 'UTC'),
        toFixedString(concat(unhex(leftPad(hex(at), 12, '0')), unhex(leftPad(hex(number), 20, '0'))), 16), 'affiliate', 'redirect',
        {advertiserId: UInt32}, {affiliateId: UInt32}, if(number % 10 = 0, 0, {offerId: UInt32}),
        if(number = 7, 'rare', {hot: String}), toString(number)
      from numbers({count: UInt64})`,
    query_params: {
      endMs: Date.now() - 60_000,
      count,
      offerId: one,
      hot: HOT,
      workspaceId: world.workspaceId,
      advertiserId: world.advertiserId,
      affiliateId: world.affiliateId,
    },
    clickhouse_settings: {
      max_threads: 1,
      max_block_size: String(count),
      max_insert_block_size: String(count),
      min_insert_block_size_rows: String(count),
      max_partitions_per_insert_block: "2",
    },
  });
}

/** Rows that ClickHouse has read from the click table of this world. */
async function rowsRead(): Promise<number> {
  await world.clickhouse.command({ query: "system flush logs" });
  const answer = await world.clickhouse.query({
    query: `select sum(read_rows) as read from system.query_log
      where current_database = currentDatabase() and type = 'QueryFinish' and query_kind = 'Select'
        and has(tables, concat(currentDatabase(), '.click'))`,
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ read: number }>();
  return row?.read ?? 0;
}

/** `sub1` of the click that gets the credit for a report, or the error, and how many rows were read for it. */
async function look(params: Record<string, string>): Promise<{ found: unknown; read: number }> {
  const before = await rowsRead();
  // The writers have all clicks up to that time, so ClickHouse is queried once.
  const receivedAtMs = Date.now() - 500;
  const { body } = await world.report(
    { ...params, txid: `order-${before}` },
    { receivedAtMs, isSentOnce: true },
  );
  const read = (await rowsRead()) - before;
  const id = body["conversion_id"];
  if (id === undefined) return { found: body["error"], read };
  const [row] = await world.rows("select click ->> 'sub1' as sub1 from conversion where id = $1", [
    id,
  ]);
  return { found: row?.["sub1"], read };
}

describe("clicks that share one ad ID (#0, #16)", () => {
  test("a lookup reads no more rows for an ID of 300,000 clicks than for one of a single click (#0, #16)", async () => {
    const rare = await look({ gclid: "rare" });
    expect(rare.found).toBe("7");
    const hot = await look({ gclid: HOT });
    expect(hot.found).toBe(String(EQUAL - 1));
    const other = await look({ gclid: HOT, offer_id: `OFFER${unused}` });
    expect(other.read).toBeLessThanOrEqual(1.5 * rare.read);
    expect(hot.read).toBeLessThanOrEqual(1.5 * rare.read);
    expect(rare.read).toBeLessThan(EQUAL / 10);
  });

  test("the latest click is found among parts with and without the index (#0, G113)", async () => {
    await world.addClick({ offer_id: two, gclid: HOT, ageMs: 7_200_000, sub1: "old" });
    expect((await look({ gclid: HOT, offer_id: `OFFER${two}` })).found).toBe("old");
    await world.clickhouse.command({
      query: "alter table click clear projection latest_gclid settings mutations_sync = 2",
    });
    await world.addClick({ offer_id: one, gclid: HOT, ageMs: 1_000, sub1: "newest" });
    expect((await look({ gclid: HOT })).found).toBe("newest");
    expect((await look({ gclid: HOT, offer_id: `OFFER${two}` })).found).toBe("old");
    expect((await look({ gclid: "rare" })).found).toBe("7");
    expect((await look({ gclid: "nobody" })).found).toBe("no click found for gclid");
  });

  test("an erased ID no longer finds its click (#0, #19)", async () => {
    await world.addClick({ offer_id: one, gclid: "erased", sub1: "erased" });
    expect((await look({ gclid: "erased" })).found).toBe("erased");
    await world.clickhouse.command({
      query:
        "alter table click update gclid = '' where gclid = 'erased' settings mutations_sync = 2",
    });
    expect((await look({ gclid: "erased" })).found).toBe("no click found for gclid");
  });
});

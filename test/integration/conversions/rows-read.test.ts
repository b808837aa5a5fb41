import { expect, test } from "vitest";
import { releaseDueHolds } from "../../../processors/schedule/holds.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { inTransaction } from "../../../schemas/postgres/transaction.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { TrackingWorld } from "./tracking-world.ts";

const world = await forThisFile(TrackingWorld.open());

/** How many rows of a table `work` reads. */
async function rowsRead(
  table: "conversion" | "postback",
  work: (db: Queryable) => Promise<unknown>,
): Promise<number> {
  await world.rows(`analyze ${table}`);
  return await inTransaction(world.pool, async (db) => {
    const read = async (): Promise<number> => {
      const { rows } = await db.query<{ read: number }>({
        text: `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read
               from pg_stat_xact_user_tables where relname = $1`,
        values: [table],
      });
      return rows[0]?.read ?? 0;
    };
    const before = await read();
    await work(db);
    return (await read()) - before;
  });
}

test("a tick reads the conversions whose hold is over, and not all that are held (P18)", async () => {
  await world.rows(
    `insert into conversion (id, workspace_id, offer_id, advertiser_id, event_id, event_code, is_private, status,
       status_reason, revenue, payout, currency, payout_type, payout_rate, revenue_type, revenue_rate, method, conv_ts,
       hold_until, holds_click, holds_txid)
     select gen_random_uuid(), $1, $2, $3, 1, 'default', false, 'pending', 'hold', 1, 1, 'USD', 'cpa', 1, 'rpa', 1, 's2s',
       now(), now() + sign(i) * interval '1 day', false, false from generate_series(0, 20000) i`,
    [world.workspaceId, await world.addOffer(), world.advertiserId],
  );
  const read = await rowsRead("conversion", async (db) => {
    expect(await releaseDueHolds(db, 500)).toBe(1);
  });
  expect(read).toBeLessThan(20);
});

test("a conversion reads its own partner's postbacks on its offer, and no others (G122)", async () => {
  const offerId = await world.addOffer();
  await world.rows(
    `with partner as (
       insert into affiliate (workspace_id, name, code, currency)
       select $1, 'P', 'P' || i, 'USD' from generate_series(1, 20000) i returning id)
     insert into postback (workspace_id, offer_id, affiliate_id, url) select $1::integer, $2::integer, id, 'https://p.example/' from partner
     union all select $1, $2, $3::integer, 'https://own.example/' union all select $1, $2, null, 'https://all.example/'
     union all select $1, $4, $3, 'https://own.example/' from generate_series(1, 20000)`,
    [world.workspaceId, offerId, world.affiliateId, await world.addOffer()],
  );
  const read = await rowsRead("postback", async (db) => {
    // More than five, so that Postgres may also choose the plan without the values.
    for (let conversion = 0; conversion < 10; conversion += 1) {
      await db.query({
        text: `select queue_postbacks(null, c) from jsonb_populate_record(null::conversion, jsonb_build_object(
                 'id', gen_random_uuid(), 'workspace_id', $1::integer, 'offer_id', $2::integer, 'affiliate_id', $3::integer,
                 'event_code', 'default', 'status', 'approved', 'is_private', false, 'is_duplicate', false)) c`,
        values: [world.workspaceId, offerId, world.affiliateId],
      });
    }
  });
  expect(await world.rows("select from delivery")).toHaveLength(20);
  expect(read).toBeLessThan(100);
});

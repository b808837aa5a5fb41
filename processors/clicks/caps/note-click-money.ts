import { formatAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import type { CapMoney } from "./click-money.ts";

const ROWS_PER_STATEMENT = 5_000;

/**
 * Stores totals where conversions are checked against their caps. Totals are absolute and only grow, so they may be stored twice, late, or by a
 * writer that has lost its lane. Rows are locked in one order.
 */
export async function noteClickMoney(db: Queryable, totals: readonly CapMoney[]): Promise<void> {
  for (let from = 0; from < totals.length; from += ROWS_PER_STATEMENT) {
    const page = totals.slice(from, from + ROWS_PER_STATEMENT);
    await db.query({
      name: "note-click-money",
      text: `insert into cap_click_money (cap, bucket_start, offer_id, amount)
             select t.cap, cap_bucket_start(t.period, to_timestamp(t.at_ms::double precision / 1000), t.timezone), t.offer_id, t.amount
             from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::integer[], $6::numeric[])
               as t (cap, period, timezone, at_ms, offer_id, amount)
             order by 1, 2, 3
             on conflict (cap, bucket_start, offer_id) do update set amount = excluded.amount
             where cap_click_money.amount < excluded.amount`,
      values: [
        page.map(({ cap }) => cap),
        page.map(({ period }) => period),
        page.map(({ timezone }) => timezone),
        page.map(({ atMs }) => atMs),
        page.map(({ offerId }) => offerId),
        page.map(({ amount }) => formatAmount(amount)),
      ],
    });
  }
}

import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import { capName, capOwnersOf } from "../../../schemas/catalog/cap-owners.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CAP_PERIODS, type CapPeriod } from "../../../schemas/catalog/records.ts";
import type { CapReached } from "../../../schemas/events/click-notice.ts";
import { formatAmount } from "../../../schemas/money/amount.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";
import { cheapestPrices } from "./cap-prices.ts";

/** A cap of conversions, payouts or revenue. */
export type CounterCap = {
  readonly name: string;
  readonly period: CapPeriod;
  readonly timezone: string;
  /** Decimal text, as the catalog writes it. */
  readonly limit: string;
  /** The cheapest fixed price that counts against a cap of money, decimal text; null if it has none. */
  readonly price: string | null;
};

const KINDS = ["conversions", "payout", "revenue"] as const;
const CAPS_PER_QUERY = 5_000;

/** Every such cap of the catalog. The money of a budget or a group has one counter for each currency of its offers. */
export function counterCapsOf(catalog: Catalog): CounterCap[] {
  const caps = new Map<string, CounterCap>();
  const prices = cheapestPrices(catalog);
  for (const offer of catalog.offers.values()) {
    for (const owner of capOwnersOf(catalog, offer)) {
      const timezone = catalog.workspaces.get(offer.workspace_id)?.timezone ?? "UTC";
      for (const kind of KINDS) {
        for (const period of CAP_PERIODS) {
          const limit = owner.caps[kind]?.[period];
          if (limit === undefined) continue;
          const name = capName(owner.name, kind, period, offer.currency);
          const cheapest = prices.get(name);
          const price = cheapest === undefined ? null : formatAmount(cheapest);
          caps.set(name, { name, period, timezone, limit: String(limit), price });
        }
      }
    }
  }
  return [...caps.values()];
}

/**
 * The caps that are reached in the period of `nowMs`: nothing is left, or not even the cheapest fixed price fits, or a conversion was
 * refused at this limit although no price is fixed (G231). One look-up by primary key for each.
 */
export async function selectReachedCaps(
  db: Queryable,
  caps: readonly CounterCap[],
  nowMs: number,
): Promise<CapReached[]> {
  const reached: CapReached[] = [];
  for (let from = 0; from < caps.length; from += CAPS_PER_QUERY) {
    const page = caps.slice(from, from + CAPS_PER_QUERY);
    // Computes the start of each period and time zone once, not once per cap.
    const spans = new Map<string, CounterCap & { readonly number: number }>();
    const spanNumbers = page.map((cap) => {
      const key = `${cap.period} ${cap.timezone}`;
      const span = spans.get(key) ?? { ...cap, number: spans.size + 1 };
      spans.set(key, span);
      return span.number;
    });
    const { rows } = await db.query<{ ordinal: number }>({
      name: "select-reached-caps",
      text: `with span as materialized (
               select s.number, cap_bucket_start(s.period, to_timestamp($1::double precision / 1000), s.timezone) as starts
               from unnest($2::text[], $3::text[]) with ordinality as s (period, timezone, number))
             select w.ordinal
             from unnest($4::text[], $5::bigint[], $6::numeric[], $7::numeric[]) with ordinality as w (cap, span, "limit", price, ordinal)
             join span s on s.number = w.span
             left join cap_counter c on c.cap = w.cap and c.bucket_start = s.starts
             where is_cap_reached(coalesce(c.used, 0) + coalesce((
                 select sum(m.amount) from cap_click_money m where m.cap = w.cap and m.bucket_start = s.starts), 0),
               w."limit", w.price, c.refused_limit)`,
      values: [
        nowMs,
        [...spans.values()].map(({ period }) => period),
        [...spans.values()].map(({ timezone }) => timezone),
        page.map(({ name }) => name),
        spanNumbers,
        page.map(({ limit }) => limit),
        page.map(({ price }) => price),
      ],
    });
    for (const { ordinal } of rows) {
      const cap = page[ordinal - 1];
      if (cap === undefined) throw new Error(`Postgres returned cap ${ordinal} of ${page.length}`);
      const { name, period, timezone, limit } = cap;
      reached.push({ cap: name, bucket: capBucket(period, timezone, nowMs), limit });
    }
  }
  return reached;
}

import { capBucket } from "../../../schemas/catalog/cap-bucket.ts";
import { capName, capOwnersOf } from "../../../schemas/catalog/cap-owners.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CAP_PERIODS, type CapPeriod } from "../../../schemas/catalog/records.ts";
import type { CapReached } from "../../../schemas/events/click-notice.ts";
import type { Queryable } from "../../../schemas/postgres/connect.ts";

/** One counter of conversions, payouts or revenue and what it may reach. */
export type CounterCap = {
  readonly name: string;
  readonly period: CapPeriod;
  readonly timezone: string;
  /** Decimal text, as the catalog writes it. */
  readonly limit: string;
};

const KINDS = ["conversions", "payout", "revenue"] as const;
const CAPS_A_QUERY = 5_000;

/** Every such cap of the catalog. A budget's and a group's money is counted once for each currency of their offers. */
export function counterCapsOf(catalog: Catalog): CounterCap[] {
  const caps = new Map<string, CounterCap>();
  for (const offer of catalog.offers.values()) {
    for (const owner of capOwnersOf(catalog, offer)) {
      const timezone = catalog.workspaces.get(offer.workspace_id)?.timezone ?? "UTC";
      for (const kind of KINDS) {
        for (const period of CAP_PERIODS) {
          const limit = owner.caps[kind]?.[period];
          if (limit === undefined) continue;
          const name = capName(owner.name, kind, period, offer.currency);
          caps.set(name, { name, period, timezone, limit: String(limit) });
        }
      }
    }
  }
  return [...caps.values()];
}

/** Those that are reached in the period that `nowMs` lies in. One look at the primary key each. */
export async function selectReachedCaps(
  db: Queryable,
  caps: readonly CounterCap[],
  nowMs: number,
): Promise<CapReached[]> {
  const reached: CapReached[] = [];
  for (let from = 0; from < caps.length; from += CAPS_A_QUERY) {
    const page = caps.slice(from, from + CAPS_A_QUERY);
    // A period and time zone begins once, not once a cap.
    const spans = new Map<string, CounterCap & { readonly number: number }>();
    const spanNumbers = page.map((cap) => {
      const key = `${cap.period} ${cap.timezone}`;
      const span = spans.get(key) ?? { ...cap, number: spans.size + 1 };
      spans.set(key, span);
      return span.number;
    });
    const { rows } = await db.query<{ place: number }>({
      name: "select-reached-caps",
      text: `with span as materialized (
               select s.number, cap_bucket_start(s.period, to_timestamp($1::double precision / 1000), s.timezone) as starts
               from unnest($2::text[], $3::text[]) with ordinality as s (period, timezone, number))
             select w.place
             from unnest($4::text[], $5::bigint[], $6::numeric[]) with ordinality as w (cap, span, "limit", place)
             join span s on s.number = w.span
             left join cap_counter c on c.cap = w.cap and c.bucket_start = s.starts
             where coalesce(c.used, 0) >= w."limit"`,
      values: [
        nowMs,
        [...spans.values()].map(({ period }) => period),
        [...spans.values()].map(({ timezone }) => timezone),
        page.map(({ name }) => name),
        spanNumbers,
        page.map(({ limit }) => limit),
      ],
    });
    for (const { place } of rows) {
      const cap = page[place - 1];
      if (cap === undefined) throw new Error(`no cap has the place ${place}`);
      const { name, period, timezone, limit } = cap;
      reached.push({ cap: name, bucket: capBucket(period, timezone, nowMs), limit });
    }
  }
  return reached;
}

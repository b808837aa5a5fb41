import { z } from "zod";
import { capBucketRange } from "../../../schemas/catalog/cap-bucket.ts";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import type { CountedOffer, StoredMoney } from "./click-money.ts";

/** Bounds the length of the URL, which contains the ids. */
const OFFERS_PER_QUERY = 2_000;
const MS_PER_S = 1_000;

/** Money is text, so that no float touches it. */
const Sum = z.object({
  offer_id: z.int(),
  currency: z.string(),
  payout: z.string(),
  revenue: z.string(),
});

/** Offers with the same period and time zone, which share a query. */
export type MoneySpan = Pick<CountedOffer, "period" | "timezone"> & {
  readonly key: string;
  readonly counted: CountedOffer[];
};

export function moneySpansOf(offers: readonly CountedOffer[]): Iterable<MoneySpan> {
  const spans = new Map<string, MoneySpan>();
  for (const counted of offers) {
    const { period, timezone } = counted;
    const key = period === "total" ? period : `${period} ${timezone}`;
    const known = spans.get(key);
    if (known === undefined) spans.set(key, { key, period, timezone, counted: [counted] });
    else known.counted.push(counted);
  }
  return spans.values();
}

/** What the stored clicks of the offers cost in the period of `nowMs`, on these servers. Fails at `untilMs` of monotonic time. */
export async function selectClickMoney(
  servers: readonly Clickhouse[],
  lanes: readonly number[],
  span: MoneySpan,
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): Promise<StoredMoney[]> {
  const { fromMs, toMs } = capBucketRange(span.period, span.timezone, nowMs);
  const ids = [...new Set(span.counted.map(({ offer }) => offer.id))];
  const workspaces = [...new Set(span.counted.map(({ offer }) => offer.workspace_id))];
  const stored: StoredMoney[] = [];
  for (const clickhouse of servers) {
    for (let from = 0; from < ids.length; from += OFFERS_PER_QUERY) {
      const leftMs = Math.max(1, Math.ceil(untilMs - performance.now()));
      const answer = await clickhouse.query({
        query: `select offer_id, currency, toString(sum(click_payout)) as payout, toString(sum(click_revenue)) as revenue
          from ${allShards(clickhouse, "click")}
          where workspace_id in {workspaces: Array(UInt32)} and _lane in {lanes: Array(UInt8)}
            and ts >= fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC') and toUnixTimestamp64Milli(ts) < {toMs: Int64}
            and offer_id in {offers: Array(UInt32)} and (click_payout > 0 or click_revenue > 0)
          group by offer_id, currency`,
        query_params: {
          lanes,
          fromMs,
          toMs,
          workspaces,
          offers: ids.slice(from, from + OFFERS_PER_QUERY),
        },
        format: "JSONEachRow",
        clickhouse_settings: { max_execution_time: leftMs / MS_PER_S },
        abort_signal: AbortSignal.timeout(leftMs),
      });
      for (const row of z.array(Sum).parse(await answer.json())) {
        const { offer_id: offerId, currency } = row;
        const [payout, revenue] = [amountOf(row.payout), amountOf(row.revenue)];
        stored.push({ offerId, currency, payout, revenue });
      }
    }
  }
  return stored;
}

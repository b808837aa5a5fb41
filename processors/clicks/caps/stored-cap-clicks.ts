import { z } from "zod";
import { capBucket, capBucketRange } from "../../../schemas/catalog/cap-bucket.ts";
import type { CapPeriod } from "../../../schemas/catalog/records.ts";
import { allShards } from "../../../schemas/clickhouse/all-shards.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import type { CountedCap, StoredClicks } from "./click-caps.ts";

/** Bounds the length of the URL, which contains the ids. */
const OFFERS_PER_QUERY = 2_000;
const MS_PER_S = 1_000;

/** The settings of the connection make ClickHouse write 64-bit numbers without quotes. */
const Count = z.object({ offer_id: z.int(), clicks: z.int(), next: z.int(), later: z.int() });

/** Selects the clicks that count for click caps: the same rule as `wasTaken`. */
export const TAKEN = "status = 'redirect' and status_reason != 'duplicate'";

/** Caps with the same period and time zone, which share a query. */
export type CapSpan = {
  readonly key: string;
  readonly period: CapPeriod;
  readonly timezone: string;
  readonly caps: CountedCap[];
};

/**
 * Stored clicks of each cap on these servers: in the period of `nowMs`, in the next one (a clock that is ahead may have put some there), and in all
 * later ones together, as an infinite bucket. Reads one period of the offers' workspaces; for a `total` cap all of their clicks.
 * Fails at `untilMs` of monotonic time.
 */
export async function selectCapClicks(
  servers: readonly Clickhouse[],
  lanes: readonly number[],
  span: CapSpan,
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): Promise<Map<string, StoredClicks[]>> {
  const { fromMs, toMs } = capBucketRange(span.period, span.timezone, nowMs);
  const bucket = capBucket(span.period, span.timezone, nowMs);
  const nextBucket = capBucket(span.period, span.timezone, toMs);
  const { toMs: nextToMs } = capBucketRange(span.period, span.timezone, toMs);
  const range = { fromMs, toMs, nextToMs, untilMs };
  const counts: z.infer<typeof Count>[] = [];
  for (const clickhouse of servers)
    counts.push(...(await selectCounts(clickhouse, lanes, span, range)));
  const stored = new Map<string, StoredClicks[]>();
  for (const cap of span.caps) {
    const rows = counts.filter(({ offer_id: id }) => cap.offers.has(id));
    stored.set(
      cap.name,
      rows.flatMap(({ offer_id: offerId, clicks, next, later }) =>
        [
          { offerId, bucket, clicks },
          { offerId, bucket: nextBucket, clicks: next },
          { offerId, bucket: Number.POSITIVE_INFINITY, clicks: later },
        ].filter((counted) => counted.clicks > 0),
      ),
    );
  }
  return stored;
}

export function spansOf(caps: readonly CountedCap[]): Iterable<CapSpan> {
  const spans = new Map<string, CapSpan>();
  for (const cap of caps) {
    const { period, timezone } = cap;
    const key = period === "total" ? period : `${period} ${timezone}`;
    const known = spans.get(key);
    if (known === undefined) spans.set(key, { key, period, timezone, caps: [cap] });
    else known.caps.push(cap);
  }
  return spans.values();
}

async function selectCounts(
  clickhouse: Clickhouse,
  lanes: readonly number[],
  span: CapSpan,
  {
    untilMs,
    ...range
  }: {
    readonly fromMs: number;
    readonly toMs: number;
    readonly nextToMs: number;
    readonly untilMs: number;
  },
): Promise<z.infer<typeof Count>[]> {
  const offers = new Map(span.caps.flatMap((cap) => [...cap.offers]));
  const ids = [...offers.keys()];
  const workspaces = [...new Set([...offers.values()].map((offer) => offer.workspace_id))];
  const counts: z.infer<typeof Count>[] = [];
  for (let from = 0; from < ids.length; from += OFFERS_PER_QUERY) {
    const leftMs = Math.max(1, Math.ceil(untilMs - performance.now()));
    const answer = await clickhouse.query({
      query: `select offer_id, countIf(toUnixTimestamp64Milli(ts) < {toMs: Int64}) as clicks,
          countIf(toUnixTimestamp64Milli(ts) >= {toMs: Int64} and toUnixTimestamp64Milli(ts) < {nextToMs: Int64}) as next,
          countIf(toUnixTimestamp64Milli(ts) >= {nextToMs: Int64}) as later
        from ${allShards(clickhouse, "click")}
        where workspace_id in {workspaces: Array(UInt32)} and _lane in {lanes: Array(UInt8)}
          and ts >= fromUnixTimestamp64Milli({fromMs: Int64}, 'UTC')
          and offer_id in {offers: Array(UInt32)} and ${TAKEN}
        group by offer_id`,
      query_params: {
        lanes,
        ...range,
        workspaces,
        offers: ids.slice(from, from + OFFERS_PER_QUERY),
      },
      format: "JSONEachRow",
      clickhouse_settings: { max_execution_time: leftMs / MS_PER_S },
      abort_signal: AbortSignal.timeout(leftMs),
    });
    counts.push(...z.array(Count).parse(await answer.json()));
  }
  return counts;
}

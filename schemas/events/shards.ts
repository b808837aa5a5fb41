/**
 * Clicks are distributed to shards by offer, so that one writer counts everything per offer (uniques, duplicates, click caps). The shard
 * is part of every click id and stored position, so this number never changes in an installation.
 */
const SHARD_COUNT = 4;

/** A lane is one numbered sequence per producer: a shard's clicks, or all impressions. Each is one NATS subject. */
export const IMPRESSION_LANE = 100;

export const CLICK_LANES: readonly number[] = Array.from(
  { length: SHARD_COUNT },
  (_, shard) => shard,
);
export const ALL_LANES: readonly number[] = [...CLICK_LANES, IMPRESSION_LANE];

/** The shard, and so the lane, of a click on this offer; clicks without an offer (id 0) have one too. */
export function shardOfOffer(offerId: number): number {
  return offerId % SHARD_COUNT;
}

/** Numbers of click lanes that an installation may have. Each is a multiple of all before it, so that a lane is split and never mixed. */
export const LANE_COUNTS: readonly number[] = [4, 8, 16, 32, 64];
export const DEFAULT_LANE_COUNT = 4;

/** The lane of all impressions. Click lanes are numbered from 0 and stay below it. */
export const IMPRESSION_LANE = 100;

/**
 * The lanes of an installation. A lane is one numbered sequence per producer: a share of the clicks, or all impressions. Each is one NATS
 * subject, and has one writer at a time. Clicks are distributed to lanes by offer, so that one writer counts everything per offer (uniques,
 * duplicates, click caps). The lane is part of every click id and stored position.
 */
export class Lanes {
  /** Number of click lanes. */
  readonly count: number;
  readonly clicks: readonly number[];
  /** The click lanes and the lane of impressions. */
  readonly all: readonly number[];

  /** `count` is one of {@link LANE_COUNTS}. */
  constructor(count: number) {
    this.count = count;
    this.clicks = Array.from({ length: count }, (_, lane) => lane);
    this.all = [...this.clicks, IMPRESSION_LANE];
  }

  /** The lane of a click on this offer. Clicks without an offer (id 0) have one too. */
  ofOffer(offerId: number): number {
    return offerId % this.count;
  }
}

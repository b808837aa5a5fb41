/**
 * Clicks in the newest period of one click cap, over all processes: those counted here, and what the writers of the lanes have
 * told. Neither is part of the other: what is told may or may not hold our newest clicks. Invariant: a tally of a period is
 * never lower than what was counted here in it, nor than any total told of it, and never higher than the clicks there are.
 */
export class ClickTally {
  #bucket = Number.NEGATIVE_INFINITY;
  #clicks = 0;
  #toldBucket = Number.NEGATIVE_INFINITY;
  #told = 0;
  /** By lane: a group's offers lie in several. */
  #toldByLane: Map<number, number> | undefined;

  /** Time does not go back within a process: what was counted in an earlier period is forgotten. */
  clicksIn(bucket: number): number {
    if (bucket !== this.#bucket) {
      this.#bucket = bucket;
      this.#clicks = 0;
    }
    if (bucket === this.#toldBucket && this.#told > this.#clicks) this.#clicks = this.#told;
    return this.#clicks;
  }

  /** The newest period in which anything was counted or reported, and its clicks. */
  get newest(): { readonly bucket: number; readonly clicks: number } {
    const bucket = Math.max(this.#bucket, this.#toldBucket);
    const counted = bucket === this.#bucket ? this.#clicks : 0;
    return {
      bucket,
      clicks: bucket === this.#toldBucket ? Math.max(counted, this.#told) : counted,
    };
  }

  /** What the process before this one had counted. To be called before anything else. */
  recall(bucket: number, clicks: number): void {
    this.#bucket = bucket;
    this.#clicks = clicks;
  }

  count(bucket: number): void {
    this.#clicks = this.clicksIn(bucket) + 1;
  }

  /** In any order, and as often as one likes. */
  note(lane: number, bucket: number, clicks: number): void {
    if (bucket < this.#toldBucket) return;
    if (bucket > this.#toldBucket || this.#toldByLane === undefined) {
      this.#toldBucket = bucket;
      this.#told = 0;
      this.#toldByLane = new Map();
    }
    const before = this.#toldByLane.get(lane) ?? 0;
    if (clicks <= before) return;
    this.#toldByLane.set(lane, clicks);
    this.#told += clicks - before;
  }
}

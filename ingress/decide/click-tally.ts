/** One period of a tally. */
type Period = {
  readonly bucket: number;
  clicks: number;
  /** By lane, what its writer has told: a group's offers lie in several. Undefined before the first. */
  toldByLane: Map<number, number> | undefined;
  told: number;
};

/** The period of now, and those that a clock was in that was ahead or behind for a while. */
export const PERIODS_KEPT = 3;

/**
 * Clicks of one click cap in the periods that were counted or told last, over all processes: those counted here, and what the writers
 * of the lanes have told. Neither is part of the other: what is told may or may not hold our newest clicks. Invariant: a tally of a
 * period is never lower than what was counted here in it, nor than any total told of it, and never higher than the clicks there are.
 * A clock that was in another period for a while takes nothing from the one it comes back to.
 */
export class ClickTally {
  /** The one that was used last comes first. */
  readonly #periods: Period[] = [];

  clicksIn(bucket: number): number {
    return this.#of(bucket).clicks;
  }

  /** What {@link recall} takes. */
  get periods(): readonly { readonly bucket: number; readonly clicks: number }[] {
    return this.#periods;
  }

  /** What the process before this one had counted. To be called before anything else. */
  recall(bucket: number, clicks: number): void {
    this.#of(bucket).clicks = clicks;
  }

  count(bucket: number): void {
    this.#of(bucket).clicks += 1;
  }

  /** In any order, and as often as one likes. */
  note(lane: number, bucket: number, clicks: number): void {
    const period = this.#of(bucket);
    period.toldByLane ??= new Map();
    const before = period.toldByLane.get(lane) ?? 0;
    if (clicks <= before) return;
    period.toldByLane.set(lane, clicks);
    period.told += clicks - before;
    period.clicks = Math.max(period.clicks, period.told);
  }

  #of(bucket: number): Period {
    const [latest] = this.#periods;
    if (latest?.bucket === bucket) return latest;
    const at = this.#periods.findIndex((period) => period.bucket === bucket);
    const [known] = at < 0 ? [] : this.#periods.splice(at, 1);
    const period = known ?? { bucket, clicks: 0, toldByLane: undefined, told: 0 };
    this.#periods.unshift(period);
    if (this.#periods.length > PERIODS_KEPT) this.#periods.pop();
    return period;
  }
}

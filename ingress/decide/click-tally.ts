/** One period of a tally. */
type Period = {
  readonly bucket: number;
  clicks: number;
  /** The writers' totals by lane, because a group's offers are in several lanes. Undefined before the first. */
  reportedByLane: Map<number, number> | undefined;
  reported: number;
  /** Number of lanes among which the writers divide the offers. With more lanes, each total begins anew and includes the earlier clicks. */
  lanes: number;
};

/** Periods remembered: the present period, and others for a clock that was ahead or behind for a while. */
export const PERIODS_KEPT = 3;

/**
 * Clicks of one click cap over all processes, in the periods used last: the count of this process, and the totals that the writers of the
 * lanes report. The totals may or may not contain our newest clicks, so count and totals are never added up. Invariant: a tally of a period
 * is never lower than what was counted here, nor than any total reported, and never higher than the true number of clicks. A clock that was
 * in another period for a while does not change the period to which it returns.
 */
export class ClickTally {
  /** The most recently used comes first. */
  readonly #periods: Period[] = [];

  clicksIn(bucket: number): number {
    return this.#of(bucket).clicks;
  }

  /** The arguments for {@link recall}. */
  get periods(): readonly { readonly bucket: number; readonly clicks: number }[] {
    return this.#periods;
  }

  /** Restores what the process before this one had counted. Call it before all other methods. */
  recall(bucket: number, clicks: number): void {
    this.#of(bucket).clicks = clicks;
  }

  count(bucket: number): void {
    this.#of(bucket).clicks += 1;
  }

  /** Totals may come in any order and any number of times. */
  note({ lane, lanes }: { lane: number; lanes: number }, bucket: number, clicks: number): void {
    const period = this.#of(bucket);
    // A late total of a lane that still counted offers of another lane.
    if (lanes < period.lanes) return;
    if (lanes > period.lanes)
      Object.assign(period, { lanes, reportedByLane: undefined, reported: 0 });
    period.reportedByLane ??= new Map();
    const before = period.reportedByLane.get(lane) ?? 0;
    if (clicks <= before) return;
    period.reportedByLane.set(lane, clicks);
    period.reported += clicks - before;
    period.clicks = Math.max(period.clicks, period.reported);
  }

  #of(bucket: number): Period {
    const [latest] = this.#periods;
    if (latest?.bucket === bucket) return latest;
    const at = this.#periods.findIndex((period) => period.bucket === bucket);
    const [known] = at < 0 ? [] : this.#periods.splice(at, 1);
    const period = known ?? { bucket, clicks: 0, reportedByLane: undefined, reported: 0, lanes: 0 };
    this.#periods.unshift(period);
    if (this.#periods.length > PERIODS_KEPT) this.#periods.pop();
    return period;
  }
}

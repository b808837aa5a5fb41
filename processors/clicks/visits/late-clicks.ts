/** How long clicks that arrive after their window are remembered, at least. */
const KEPT_MS = 3_600_000;

/**
 * Keeps clicks that arrive after their whole window from being dropped at once: the journal of a producer that was cut off may hold
 * several clicks of a visitor. All times are UTC ms.
 */
export class LateClicks {
  #hour = Number.NaN;
  /** Earliest late click of this hour and of the hour before. */
  #earliestMs = Number.POSITIVE_INFINITY;
  #earlierMs = Number.POSITIVE_INFINITY;

  note(atMs: number, nowMs: number): void {
    this.#turn(nowMs);
    if (atMs < this.#earliestMs) this.#earliestMs = atMs;
  }

  /** The earliest late click of the last one to two hours; infinite without one. */
  earliestMs(nowMs: number): number {
    this.#turn(nowMs);
    return Math.min(this.#earliestMs, this.#earlierMs);
  }

  #turn(nowMs: number): void {
    const hour = Math.floor(nowMs / KEPT_MS);
    if (hour === this.#hour) return;
    // Also when the clock went back: visits are then read from the table again.
    this.#earlierMs = hour === this.#hour + 1 ? this.#earliestMs : Number.POSITIVE_INFINITY;
    this.#earliestMs = Number.POSITIVE_INFINITY;
    this.#hour = hour;
  }
}

/** A lane's next position at a time: records before it were taken by then. */
type Mark = { readonly next: number; atMs: number };

const MARKS_MAX = 4_096;

/** The age of the oldest record of a lane that no writer has stored. Positions are remembered over time, not a time for each record. */
export class UnstoredRecords {
  readonly #marks: Mark[] = [{ next: 0, atMs: Number.NEGATIVE_INFINITY }];

  /** Call it about once a second with the lane's next position. Times are monotonic ms. */
  note(next: number, nowMs: number): void {
    const last = this.#marks.at(-1);
    if (last?.next === next) {
      last.atMs = nowMs;
      return;
    }
    this.#marks.push({ next, atMs: nowMs });
    if (this.#marks.length > MARKS_MAX) this.#thinOut();
  }

  /** Upper bound of the age of the record at `position`, in seconds, between two calls of {@link note} too old at most. */
  ageOf(position: number, nowMs: number): number {
    // No question goes back: what is stored stays stored.
    while (this.#marks.length > 1 && (this.#marks[1]?.next ?? 0) <= position) this.#marks.shift();
    const takenAfterMs = this.#marks[0]?.atMs ?? nowMs;
    return Math.max(0, nowMs - takenAfterMs) / 1_000;
  }

  /** After an hour without a writer every second mark goes, so that ages are rounded up to two seconds, then four. */
  #thinOut(): void {
    const kept = this.#marks.filter((_, index) => index % 2 === 0);
    this.#marks.splice(0, this.#marks.length, ...kept);
  }
}

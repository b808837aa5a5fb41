/** How old clicks were when they were stored. */
export class Ages {
  #ages: (readonly [ageMs: number, clicks: number])[] = [];
  #clicks = 0;

  get clicks(): number {
    return this.#clicks;
  }

  note(ageMs: number, clicks: number): void {
    this.#ages.push([ageMs, clicks]);
    this.#clicks += clicks;
  }

  restart(): void {
    this.#ages = [];
    this.#clicks = 0;
  }

  /** The age that this share of the clicks do not exceed; not a number without clicks. */
  quantileMs(share: number): number {
    let below = 0;
    for (const [ageMs, clicks] of this.#ages.toSorted(([a], [b]) => a - b)) {
      below += clicks;
      if (below >= share * this.#clicks) return ageMs;
    }
    return Number.NaN;
  }
}

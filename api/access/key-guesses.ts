const WINDOW_MS = 60_000;
/** Addresses beyond this number share one count. */
const ADDRESSES_MAX = 100_000;
const ALL_OTHERS = "";

/** Counts, in this process, the unknown keys that each address sends, in fixed minutes. */
export class KeyGuesses {
  readonly #max: number;
  readonly #counts = new Map<string, number>();
  #window = 0;

  constructor(maxPerMinute: number) {
    this.#max = maxPerMinute;
  }

  /** `bucket`: the result of {@link siteOf}. */
  note(bucket: string, nowMs: number): void {
    this.#startWindow(nowMs);
    const key = this.#keyOf(bucket);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** True when the address has used up this minute's budget. Its keys are then checked without one Postgres query for each. */
  isOver(bucket: string, nowMs: number): boolean {
    this.#startWindow(nowMs);
    return (this.#counts.get(this.#keyOf(bucket)) ?? 0) >= this.#max;
  }

  #keyOf(bucket: string): string {
    return this.#counts.has(bucket) || this.#counts.size < ADDRESSES_MAX ? bucket : ALL_OTHERS;
  }

  #startWindow(nowMs: number): void {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window === this.#window) return;
    this.#window = window;
    this.#counts.clear();
  }
}

const WINDOW_MS = 60_000;
/** Addresses beyond these share one count. */
const ADDRESSES_MAX = 100_000;
const ALL_OTHERS = "";

/** Counts, in this process, the keys of each address that turned out to be unknown, in fixed minutes. */
export class KeyGuesses {
  readonly #max: number;
  readonly #counts = new Map<string, number>();
  #window = 0;

  constructor(maxPerMinute: number) {
    this.#max = maxPerMinute;
  }

  /** `bucket`: as {@link siteOf} answers. */
  note(bucket: string, nowMs: number): void {
    this.#turn(nowMs);
    const key = this.#keyOf(bucket);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Whether the address has used up its minute: its keys are then checked without asking Postgres for each. */
  isOver(bucket: string, nowMs: number): boolean {
    this.#turn(nowMs);
    return (this.#counts.get(this.#keyOf(bucket)) ?? 0) >= this.#max;
  }

  #keyOf(bucket: string): string {
    return this.#counts.has(bucket) || this.#counts.size < ADDRESSES_MAX ? bucket : ALL_OTHERS;
  }

  #turn(nowMs: number): void {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window === this.#window) return;
    this.#window = window;
    this.#counts.clear();
  }
}

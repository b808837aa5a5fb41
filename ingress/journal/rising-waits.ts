const KEYS_MAX = 10_000;

/** When something may be done again: after a first wait, then after twice as long each time, up to a longest one. */
export class RisingWaits {
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #known = new Map<string, { doneAtMs: number; waitMs: number }>();

  constructor(bounds: { readonly firstMs: number; readonly longestMs: number }) {
    this.#firstMs = bounds.firstMs;
    this.#longestMs = bounds.longestMs;
  }

  /** True for a key that is new or has waited long enough; it then counts as done at `nowMs`, on a clock that never steps. */
  mayGo(key: string, nowMs: number): boolean {
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.doneAtMs < known.waitMs) return false;
    const waitMs = known === undefined ? this.#firstMs : known.waitMs * 2;
    if (known === undefined && this.#known.size >= KEYS_MAX) this.#known.clear();
    this.#known.set(key, { doneAtMs: nowMs, waitMs: Math.min(waitMs, this.#longestMs) });
    return true;
  }

  clear(): void {
    this.#known.clear();
  }
}

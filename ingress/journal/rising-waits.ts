import { type RisingWaits as Bounds, risingWaitMs } from "../../schemas/host/backoff.ts";

const KEYS_MAX = 10_000;

/** Decides when something may be done again: after a first wait, then after twice as long each time, up to a longest wait. */
export class RisingWaits {
  readonly #bounds: Bounds;
  readonly #known = new Map<string, { readonly doneAtMs: number; readonly times: number }>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** True for a key that is new or has waited long enough. It then counts as done at `nowMs`, on a clock that never steps. */
  mayGo(key: string, nowMs: number): boolean {
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.doneAtMs < risingWaitMs(this.#bounds, known.times))
      return false;
    if (known === undefined && this.#known.size >= KEYS_MAX) this.#known.clear();
    this.#known.set(key, { doneAtMs: nowMs, times: (known?.times ?? 0) + 1 });
    return true;
  }

  clear(): void {
    this.#known.clear();
  }
}

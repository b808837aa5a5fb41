import { type RisingWaits, risingWaitMs } from "../../schemas/host/backoff.ts";

const KEYS_MAX = 10_000;

/**
 * Decides per key when to repeat something: after a first wait, then after twice as long each time, up to a longest wait. Beyond 10,000
 * keys it forgets all of them.
 */
export class KeyedBackoff {
  readonly #waits: RisingWaits;
  readonly #known = new Map<string, { readonly doneAtMs: number; readonly times: number }>();

  constructor(waits: RisingWaits) {
    this.#waits = waits;
  }

  /** True for a key that is new or has waited long enough; it then counts as done at `nowMs` (monotonic). */
  takeIfDue(key: string, nowMs: number): boolean {
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.doneAtMs < risingWaitMs(this.#waits, known.times))
      return false;
    if (known === undefined && this.#known.size >= KEYS_MAX) this.#known.clear();
    this.#known.set(key, { doneAtMs: nowMs, times: (known?.times ?? 0) + 1 });
    return true;
  }

  clear(): void {
    this.#known.clear();
  }
}

import type { Clock } from "../../../schemas/time/clock.ts";

/** Live producers say something twice a second (click-batch.ts). After this much silence a producer has no say. */
const SILENT_MS = 10_000;

/** Clocks of machines differ by less, and a click's time is kept through a step back of 1 s (`ClickIdMint`). */
export const SKEW_MS = 2_000;

/** What the clocks say that are running now, UTC ms. One of them may be wrong, and nobody knows which. */
export type Clocks = {
  /** The clock of this process. */
  readonly ownMs: number;
  /** The newest of this clock and those of the live producers: nothing has happened after it. */
  readonly newestMs: number;
};

/**
 * The present time, by the clocks of this process and of all live producers of a lane. A time beyond `newestMs` is of a clock
 * that was ahead and is not any more.
 */
export class PresentTime {
  readonly #clock: Clock;
  readonly #said = new Map<number, { readonly atMs: number; readonly heardMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A producer's clock said `atMs`. `monotonicMs` is when that was heard. */
  heard(producer: number, atMs: number, monotonicMs: number): void {
    this.#said.set(producer, { atMs, heardMs: monotonicMs });
  }

  at(monotonicMs: number): Clocks {
    const ownMs = this.#clock.nowMs();
    let newestMs = ownMs;
    for (const [producer, { atMs, heardMs }] of this.#said) {
      if (monotonicMs - heardMs > SILENT_MS) this.#said.delete(producer);
      else if (atMs > newestMs) newestMs = atMs;
    }
    return { ownMs, newestMs };
  }
}

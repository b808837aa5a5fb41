import type { Clock } from "../../../schemas/time/clock.ts";

/** Live producers send two messages per second (click-batch.ts). After this silence a producer's clock no longer counts. */
const SILENT_MS = 10_000;

/** The clocks of two hosts differ by less than this. A step back of up to 1 s does not change the times of clicks (`ClickIdMint`). */
export const SKEW_MS = 2_000;

/** The times of the clocks that are running now, UTC ms. Any clock may be wrong. */
export type Clocks = {
  /** The clock of this process. */
  readonly ownMs: number;
  /** The latest time of this clock and of the live producers' clocks: nothing has happened after it. */
  readonly newestMs: number;
};

/**
 * The present time by the clocks of this process and of all live producers of a lane. A time after `newestMs` comes from a clock that
 * was ahead and has gone back since.
 */
export class PresentTime {
  readonly #clock: Clock;
  readonly #producerClocks = new Map<number, { readonly atMs: number; readonly readMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `atMs` is the time in a message of the producer, by its own clock; `readMs` is the monotonic time when the message was read. */
  noteClock(producer: number, atMs: number, readMs: number): void {
    this.#producerClocks.set(producer, { atMs, readMs });
  }

  at(monotonicMs: number): Clocks {
    const ownMs = this.#clock.nowMs();
    let newestMs = ownMs;
    for (const [producer, { atMs, readMs }] of this.#producerClocks) {
      if (monotonicMs - readMs > SILENT_MS) this.#producerClocks.delete(producer);
      else if (atMs > newestMs) newestMs = atMs;
    }
    return { ownMs, newestMs };
  }
}

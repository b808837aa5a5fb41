import { risingWaitMs } from "../../schemas/host/backoff.ts";

const DELAYS = { firstMs: 200, longestMs: 10_000 } as const;
/** After a run of this length, the next restart is quick again. */
const SOUND_RUN_MS = 30_000;

/** How long a process waits to be started again: 0.2 s after the first failure, doubled with each failure in a row, at most 10 s. */
export class RestartWaits {
  #failures = 0;

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** The wait after a run of `ranMs`; 0 for a start that failed. */
  next(ranMs: number): number {
    this.#failures = ranMs >= SOUND_RUN_MS ? 1 : this.#failures + 1;
    return risingWaitMs(DELAYS, this.#failures);
  }

  /** After an end that was wanted. */
  reset(): void {
    this.#failures = 0;
  }
}

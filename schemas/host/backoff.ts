import type { Log } from "./log.ts";
import { pause } from "./pause.ts";

/** The wait doubles with each failure in a row. Equal bounds make it a steady wait. */
export type RisingWaits = { readonly firstMs: number; readonly longestMs: number };

export type BackoffOptions = RisingWaits & {
  /** Ends the current wait and all later ones. */
  readonly signal: AbortSignal;
  /** Each wait is multiplied by a random factor between these two, so that processes that failed together do not come back together. */
  readonly spread?: readonly [from: number, to: number];
  /** `event` names the warning at failures 1, 2, 4, 8 … in a row; `<event>.over` is logged at the first success after them. */
  readonly report?: { readonly log: Log; readonly event: string };
};

/** The wait after the given number of failures in a row, 1 or more. */
export function risingWaitMs({ firstMs, longestMs }: RisingWaits, failures: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 50));
}

/** The waits of one loop that retries. Do not share it between loops. */
export class Backoff {
  readonly #options: BackoffOptions;
  #failures = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** After a success: the next wait is the first one again. */
  reset(): void {
    if (this.#failures === 0) return;
    const { report } = this.#options;
    report?.log.info({ attempts: this.#failures }, `${report.event}.over`);
    this.#failures = 0;
  }

  /** Counts and logs a failure. Returns how long to wait, in milliseconds. */
  failed(error: unknown): number {
    this.#failures += 1;
    const { report, spread: [from, to] = [1, 1] } = this.#options;
    // Every attempt of a long outage would fill the log.
    if (Number.isInteger(Math.log2(this.#failures)))
      report?.log.warn({ err: error, attempts: this.#failures }, report.event);
    return risingWaitMs(this.#options, this.#failures) * (from + Math.random() * (to - from));
  }

  /** Counts a failure and waits. Returns early, without an error, when the signal ends the wait. */
  async pause(error?: unknown): Promise<void> {
    await pause(this.failed(error), this.#options.signal);
  }

  /** Repeats `attempt` until it succeeds. Rethrows an error for which `mayPass` is false, and the reason of the signal. */
  async repeat<T>(
    attempt: () => Promise<T>,
    mayPass: (error: unknown) => boolean = () => true,
  ): Promise<T> {
    for (;;) {
      this.#options.signal.throwIfAborted();
      try {
        const result = await attempt();
        this.reset();
        return result;
      } catch (error) {
        if (!mayPass(error)) throw error;
        await this.pause(error);
      }
    }
  }
}

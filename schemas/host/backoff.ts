import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";

const FIRST_MS = 100;
const LAST_MS = 5_000;

/** Pauses between attempts, longer each time, and tells of them at rising intervals. */
export class Backoff {
  readonly #log: Log;
  readonly #name: string;
  readonly #ended = new AbortController();
  #attempts = 0;

  /** `name` is that of the log line. */
  constructor(log: Log, name: string) {
    this.#log = log;
    this.#name = name;
  }

  reset(): void {
    if (this.#attempts > 0) this.#log.info({ attempts: this.#attempts }, `${this.#name}.over`);
    this.#attempts = 0;
  }

  /** Ends the pause under way, and all later ones at once. */
  end(): void {
    this.#ended.abort();
  }

  async pause(error: unknown): Promise<void> {
    this.#attempts += 1;
    // 1, 2, 4, 8 …: every attempt of a long outage would fill the log.
    if (Number.isInteger(Math.log2(this.#attempts))) {
      this.#log.warn({ err: error, attempts: this.#attempts }, this.#name);
    }
    const longest = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(this.#attempts, 10));
    await pause(longest * (0.5 + Math.random() / 2), this.#ended.signal);
  }
}

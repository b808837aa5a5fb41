import { setImmediate } from "node:timers/promises";

/** How long an import may keep requests of its process waiting. */
const TURN_MS = 5;

/** Gives other work of the process its turn. */
export class RequestYield {
  #sinceMs = performance.now();

  /** Resolves at once, or after other work if the turn is over. */
  async next(): Promise<void> {
    if (performance.now() - this.#sinceMs < TURN_MS) return;
    await setImmediate();
    this.#sinceMs = performance.now();
  }
}

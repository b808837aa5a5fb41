const LOG_AGAIN_MS = 10_000;

/** Logs the first event of a kind at once, then the later ones together every 10 s. The number of kinds must be small and fixed. */
export class Throttle {
  readonly #kinds = new Map<string, { count: number; loggedAtMs: number }>();

  /** Calls `log` with the number of events since its last call, including this one. */
  note(kind: string, log: (count: number) => void): void {
    const pending = this.#kinds.get(kind) ?? { count: 0, loggedAtMs: Number.NEGATIVE_INFINITY };
    this.#kinds.set(kind, pending);
    pending.count += 1;
    const nowMs = performance.now();
    if (nowMs - pending.loggedAtMs < LOG_AGAIN_MS) return;
    log(pending.count);
    pending.count = 0;
    pending.loggedAtMs = nowMs;
  }
}

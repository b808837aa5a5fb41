const BUSY_MS = 10_000;

export type IdlePauseOptions = { readonly busyMs: number; readonly idleMs: number };

/**
 * How long a loop pauses that found no work: `busyMs` until it has found none for ten seconds, and `idleMs` from then on. So an installation
 * without traffic takes little of the processor, and the first work after such a time waits at most `idleMs`.
 */
export class IdlePause {
  readonly #options: IdlePauseOptions;
  #workedAtMs = performance.now();

  constructor(options: IdlePauseOptions) {
    this.#options = options;
  }

  worked(nowMs = performance.now()): void {
    this.#workedAtMs = nowMs;
  }

  pauseMs(nowMs = performance.now()): number {
    const { busyMs, idleMs } = this.#options;
    return nowMs - this.#workedAtMs < BUSY_MS ? busyMs : idleMs;
  }
}

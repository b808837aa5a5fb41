const SAY_AGAIN_MS = 10_000;

/** Of each kind: says the first at once, and the following ones together, every 10 s while they go on. Kinds are few and known. */
export class Throttle {
  readonly #kinds = new Map<string, { count: number; saidAtMs: number }>();

  /** `say` is told how many there were since it was called last, this one included. */
  note(kind: string, say: (count: number) => void): void {
    const known = this.#kinds.get(kind) ?? { count: 0, saidAtMs: Number.NEGATIVE_INFINITY };
    this.#kinds.set(kind, known);
    known.count += 1;
    const nowMs = performance.now();
    if (nowMs - known.saidAtMs < SAY_AGAIN_MS) return;
    say(known.count);
    known.count = 0;
    known.saidAtMs = nowMs;
  }
}

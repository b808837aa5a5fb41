type Waiting = { readonly cost: number; readonly serve: () => void };

/** Bounds the work under way at once, in units of cost, and the work that waits. Waiting work starts in order of arrival. */
export class WorkPool {
  readonly #costMax: number;
  readonly #waitingMax: number;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #waiting: Waiting[] = [];
  #cost = 0;

  constructor({ costMax, waitingMax = 0 }: { costMax: number; waitingMax?: number }) {
    this.#costMax = costMax;
    this.#waitingMax = waitingMax;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Undefined when the work may neither start nor wait. Work that costs more than the whole pool runs alone. Throws what the work
   * throws.
   */
  run<T>(work: () => Promise<T>, cost = 1): Promise<T> | undefined {
    const units = Math.min(cost, this.#costMax);
    if (this.#waiting.length === 0 && this.#cost + units <= this.#costMax)
      return this.#start(work, units);
    if (this.#waiting.length >= this.#waitingMax) return undefined;
    return new Promise((resolve, reject) => {
      const serve = (): void => void this.#start(work, units).then(resolve, reject);
      this.#waiting.push({ cost: units, serve });
    });
  }

  /** Settles when no work is under way. */
  async drained(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #start<T>(work: () => Promise<T>, units: number): Promise<T> {
    this.#cost += units;
    const done = work().finally(() => {
      this.#cost -= units;
      this.#underWay.delete(done);
      this.#serveNext();
    });
    this.#underWay.add(done);
    return done;
  }

  #serveNext(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#cost + next.cost > this.#costMax) return;
      this.#waiting.shift();
      next.serve();
    }
  }
}

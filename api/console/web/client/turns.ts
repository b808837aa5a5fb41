/** Lets at most `max` tasks run at the same time; the others wait in order, unless their signal aborts. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  async take<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** Tasks of "first" go before tasks of "after". */
export type Priority = "first" | "after";

/** Lets at most `max` tasks run at the same time; the others wait in order, unless their signal aborts. */
export class ReportQueue {
  readonly #waiting: Readonly<Record<Priority, (() => void)[]>> = { first: [], after: [] };
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  async take<Result>(
    {
      signal,
      priority,
    }: { readonly signal?: AbortSignal | undefined; readonly priority: Priority },
    task: () => Promise<Result>,
  ): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting[priority].push(resolve));
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      const next = this.#waiting.first.shift() ?? this.#waiting.after.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

type Entry<Item, Result> = {
  readonly item: Item;
  readonly size: number;
  /** Undefined when no caller waits for the result. */
  readonly settle?: {
    readonly resolve: (result: Result | Promise<Result>) => void;
    readonly reject: (error: unknown) => void;
  };
};

export type BatcherOptions<Item, Result> = {
  /**
   * Processes all items at once. Returns one result per item, in their order; a promise among them settles only its item. It may
   * return an empty list if every item came by {@link Batcher.add}. An error fails the whole batch; only callers of
   * {@link Batcher.ask} see it, so log it here for the others.
   */
  readonly flush: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>;
  /** Maximum number of items in a batch. */
  readonly itemsMax: number;
  /** Size of an item in any unit; 1 unless given. */
  readonly sizeOf?: (item: Item) => number;
  /** Maximum size of a batch. A larger item gets a batch of its own. */
  readonly sizeMax?: number;
  /** Maximum size of all items that are not settled, including those being flushed. */
  readonly waitingMax: number;
  /** Maximum number of concurrent flushes; default 1. */
  readonly flushesMax?: number;
  /** How long a batch waits for more items. By default it takes the items of the same turn of the event loop. */
  readonly gatherMs?: number;
  /** Pause after a flush, so that a flood becomes few batches of many items. */
  readonly restMs?: number;
  /** Wait before a batch that failed with this error is flushed again. Undefined rejects its items, as without this option. */
  readonly repeatInMs?: (error: unknown) => number | undefined;
};

/**
 * Collects items and flushes them in batches: a statement or message for a hundred items costs little more than for one.
 *
 * Invariant: an item is in one batch at a time, and is settled only after the flush of its batch, so it is as durable as `flush` makes
 * it when its promise resolves. Batches begin in the order of their items; with one at a time, a batch that is repeated stays first.
 */
export class Batcher<Item, Result = void> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #underWay = new Set<Promise<void>>();
  #waiting: Entry<Item, Result>[] = [];
  #freePlaces: number;
  #count = 0;
  #size = 0;
  /** Cancels the start of the next batch, if one is scheduled. */
  #callOff: (() => void) | undefined;
  #isClosed = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
    this.#freePlaces = options.flushesMax ?? 1;
  }

  /** Items that are not settled, including those being flushed. */
  get count(): number {
    return this.#count;
  }

  /** Adds an item without returning its result. False if there is no room. */
  add(item: Item): boolean {
    return this.#push({ item, size: this.#sizeOf(item) });
  }

  /** Adds an item; settles after the flush of its batch. Rejects with the error of that flush, or if there is no room. */
  ask(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const hasRoom = this.#push({ item, size: this.#sizeOf(item), settle: { resolve, reject } });
      if (!hasRoom) reject(new Error("too many items wait for a batch"));
    });
  }

  /** Waits for running flushes and flushes the rest. Stops at a batch that would have to be repeated; `count` is then the number left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOff?.();
    await Promise.all(this.#underWay);
    while (this.#waiting.length > 0 && (await this.#flush(this.#take())) === undefined);
    for (const { settle } of this.#waiting) settle?.reject(new Error("closed before the flush"));
  }

  #sizeOf(item: Item): number {
    return this.#options.sizeOf?.(item) ?? 1;
  }

  #push(entry: Entry<Item, Result>): boolean {
    if (this.#size + entry.size > this.#options.waitingMax) return false;
    this.#waiting.push(entry);
    this.#count += 1;
    this.#size += entry.size;
    this.#schedule(this.#options.gatherMs);
    return true;
  }

  #schedule(inMs = 0): void {
    const isDue = this.#freePlaces > 0 && this.#waiting.length > 0;
    if (!isDue || this.#callOff !== undefined || this.#isClosed) return;
    const start = (): void => {
      this.#callOff = undefined;
      const batch = this.#flushInPlace().finally(() => this.#underWay.delete(batch));
      this.#underWay.add(batch);
      this.#schedule(this.#options.gatherMs);
    };
    if (inMs > 0) {
      const timer = setTimeout(start, inMs);
      this.#callOff = () => clearTimeout(timer);
    } else {
      const immediate = setImmediate(start);
      this.#callOff = () => clearImmediate(immediate);
    }
  }

  async #flushInPlace(): Promise<void> {
    this.#freePlaces -= 1;
    const { restMs = 0, gatherMs } = this.#options;
    const heldMs = (await this.#flush(this.#take())) ?? restMs;
    const leave = (nextInMs?: number): void => {
      this.#freePlaces += 1;
      this.#schedule(nextInMs);
    };
    if (heldMs > 0) setTimeout(leave, heldMs).unref();
    else leave(gatherMs);
  }

  /** Never throws. Returns undefined if the batch is settled; else it was put back, and the result is the wait in milliseconds. */
  async #flush(batch: readonly Entry<Item, Result>[]): Promise<number | undefined> {
    const { flush, repeatInMs } = this.#options;
    try {
      const results = await flush(batch.map(({ item }) => item));
      for (const [index, { settle }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) settle?.reject(new Error("a batch has no result for an item"));
        else settle?.resolve(result);
      }
      await Promise.allSettled(results);
    } catch (error) {
      const againInMs = repeatInMs?.(error);
      if (againInMs !== undefined) {
        this.#waiting = [...batch, ...this.#waiting];
        return againInMs;
      }
      for (const { settle } of batch) settle?.reject(error);
    }
    this.#count -= batch.length;
    for (const { size } of batch) this.#size -= size;
    return undefined;
  }

  /** Takes the oldest items, at least one. */
  #take(): Entry<Item, Result>[] {
    const { itemsMax, sizeMax = Number.POSITIVE_INFINITY } = this.#options;
    let size = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      size += entry.size;
      if (count > 0 && (size > sizeMax || count === itemsMax)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}

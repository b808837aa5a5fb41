type Event = { readonly atMs: number; readonly order: number; readonly run: () => void };

/** A model of a second of a million clicks needs some hundred thousand. */
const EVENTS_MAX = 50_000_000;

/**
 * The clock of a model. Events run in the order of their time, and of their scheduling where times are equal, so that a run with the
 * same seed is the same run.
 */
export class EventQueue {
  readonly #heap: Event[] = [];
  #nowMs = 0;
  #scheduled = 0;
  #done = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  get events(): number {
    return this.#done;
  }

  /** @throws {RangeError} for a time that is not a number or lies in the past. */
  at(atMs: number, run: () => void): void {
    if (!(atMs >= this.#nowMs))
      throw new RangeError(`an event at ${atMs} ms, after ${this.#nowMs}`);
    this.#scheduled += 1;
    this.#push({ atMs, order: this.#scheduled, run });
  }

  after(ms: number, run: () => void): void {
    this.at(this.#nowMs + ms, run);
  }

  /** Runs all events up to this time. @throws {RangeError} after too many events: the model is too fine. */
  runUntil(endMs: number): void {
    for (;;) {
      const [next] = this.#heap;
      if (next === undefined || next.atMs > endMs) break;
      this.#pop();
      this.#nowMs = next.atMs;
      this.#done += 1;
      if (this.#done > EVENTS_MAX) throw new RangeError(`more than ${EVENTS_MAX} events`);
      next.run();
    }
    this.#nowMs = endMs;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const child = isRight ? right : left;
      if (isBefore(last, child)) break;
      heap[at] = child;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

import type { EventQueue } from "./event-queue.ts";

type Work = { leftMs: number; readonly done: () => void };

/** Cores, or disks, that do one piece of work each. Work that finds none free waits in order. */
export class Cores {
  readonly #events: EventQueue;
  readonly #quantumMs: number;
  readonly #waiting = new Fifo<Work>();
  #free: number;

  /** After `quantumMs` work makes room for work that waits, as an operating system does; by default it never does. */
  constructor(events: EventQueue, cores: number, quantumMs = Number.POSITIVE_INFINITY) {
    this.#events = events;
    this.#free = cores;
    this.#quantumMs = quantumMs;
  }

  /** Calls `done` when the work has had a core for `workMs`. */
  do(workMs: number, done: () => void): void {
    this.#waiting.push({ leftMs: workMs, done });
    this.#start();
  }

  #start(): void {
    while (this.#free > 0) {
      const work = this.#waiting.shift();
      if (work === undefined) return;
      this.#free -= 1;
      const sliceMs = Math.min(work.leftMs, this.#quantumMs);
      this.#events.after(sliceMs, () => {
        this.#free += 1;
        work.leftMs -= sliceMs;
        if (work.leftMs > 0) this.#waiting.push(work);
        else work.done();
        this.#start();
      });
    }
  }
}

/** Something that does one job after the other: a process, a stream, the inserts of a lane. It needs a core for each job. */
export class Thread {
  readonly #events: EventQueue;
  readonly #cores: Cores;
  readonly #jobs = new Fifo<Work>();
  #isBusy = false;
  #job = { workMs: 0, startedAtMs: 0 };
  #busyMs = 0;
  #fromMs = 0;

  constructor(events: EventQueue, cores: Cores) {
    this.#events = events;
    this.#cores = cores;
  }

  /** Share of its time since {@link restart} that its jobs took. */
  get utilisation(): number {
    const underWayMs = this.#isBusy ? this.#spentMs() : 0;
    return (this.#busyMs + underWayMs) / (this.#events.nowMs - this.#fromMs);
  }

  do(workMs: number, done: () => void): void {
    this.#jobs.push({ leftMs: workMs, done });
    if (!this.#isBusy) this.#next();
  }

  restart(): void {
    this.#busyMs = 0;
    this.#fromMs = this.#events.nowMs;
  }

  #next(): void {
    const job = this.#jobs.shift();
    this.#isBusy = job !== undefined;
    if (job === undefined) return;
    this.#job = { workMs: job.leftMs, startedAtMs: this.#events.nowMs };
    this.#cores.do(job.leftMs, () => {
      this.#busyMs += this.#spentMs();
      job.done();
      this.#next();
    });
  }

  /** What the job has taken since the restart: not its wait for a core, nor what was before. */
  #spentMs(): number {
    const { workMs, startedAtMs } = this.#job;
    return Math.min(workMs, this.#events.nowMs - Math.max(startedAtMs, this.#fromMs));
  }
}

/** A queue whose head leaves in constant time, however long it is. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

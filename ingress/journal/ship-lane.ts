import {
  BATCH_AGE_MS_MAX,
  BATCH_BYTES_MAX,
  BATCH_RECORDS_MAX,
  IDLE_BATCH_MS,
} from "../../schemas/events/click-batch.ts";
import { IMPRESSION_LANE } from "../../schemas/events/shards.ts";
import type { NatsLink } from "../nats-link.ts";
import type { JournalRecord } from "./frame.ts";
import { LaneTail } from "./lane-tail.ts";
import { publishUntilStored } from "./publish-batch.ts";

/** Memory of one lane for records on their way; beyond it they are read from the journal again. */
const TAIL_BYTES_MAX = 12 * 1024 ** 2;
/** Answers that wait for JetStream because the disk took nothing (P6). */
const WAITERS_MAX = 10_000;
const LIMITS = { records: BATCH_RECORDS_MAX, bytes: BATCH_BYTES_MAX };

export type LaneShipperOptions = {
  readonly link: NatsLink;
  readonly producer: number;
  readonly epoch: number;
  readonly lane: number;
  readonly signal: AbortSignal;
  /** UTC ms. */
  readonly nowMs: () => number;
  /** Lines of one segment from a position on, without gaps; empty when the journal has none there. */
  readonly readFromDisk: (lane: number, position: number) => Promise<readonly string[]>;
  readonly events: { shipped(records: number): void; retried(): void; lost(records: number): void };
};

type Waiter = { readonly position: number; readonly resolve: () => void };

/**
 * Ships one lane of the running epoch in order, one message at a time. Invariant: everything before `cursor` was acknowledged by
 * JetStream at least once; everything from it on is in the tail or in the journal.
 */
export class LaneShipper {
  readonly #options: LaneShipperOptions;
  readonly #tail = new LaneTail();
  #cursor = 0;
  /** What was read back from one segment and is not shipped yet. */
  #backlog: { first: number; lines: readonly string[] } = { first: 0, lines: [] };
  #wake: (() => void) | undefined;
  #isUrgent = false;
  #waiters: Waiter[] = [];

  constructor(options: LaneShipperOptions) {
    this.#options = options;
  }

  /** Position of the first record that JetStream has not acknowledged. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Records that wait to be shipped. */
  get depth(): number {
    return Math.max(0, this.#tail.next - this.#cursor);
  }

  take(record: JournalRecord): void {
    this.#tail.push(record);
    if (this.#tail.bytes > TAIL_BYTES_MAX) this.#tail.shrinkTo(TAIL_BYTES_MAX / 2);
    if (this.depth >= BATCH_RECORDS_MAX) this.#isUrgent = true;
    this.#wake?.();
  }

  /** Resolves when JetStream has acknowledged the record, or never: race it against a time. */
  whenShipped(position: number): Promise<void> {
    if (position < this.#cursor) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ position, resolve });
      if (this.#waiters.length > WAITERS_MAX) this.#waiters.shift();
    });
  }

  /** Runs until the signal ends it. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      await this.#untilWork();
      if (signal.aborted) return;
      await this.#shipNext();
    }
  }

  /** Ships what is there now and answers when it is stored, or when `signal` ends the wait. */
  async drain(signal: AbortSignal): Promise<void> {
    while (this.depth > 0 && !signal.aborted) await this.#shipNext(signal);
  }

  async #shipNext(signal: AbortSignal = this.#options.signal): Promise<void> {
    const { link, producer, epoch, lane, nowMs, events } = this.#options;
    // Taken before the lines: what is answered from now on is not promised to be in this batch.
    const cutAtMs = nowMs();
    const lines = await this.#nextLines();
    const isCaughtUp = this.#cursor + lines.length >= this.#tail.next;
    const batch = {
      producer,
      epoch,
      lane,
      first: this.#cursor,
      at: isCaughtUp ? cutAtMs : lastTimeOf(lines),
      lines,
    };
    try {
      await publishUntilStored(link, batch, { signal, onRetry: () => events.retried() });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#cursor += lines.length;
    this.#tail.dropBefore(this.#cursor);
    events.shipped(lines.length);
    this.#settleWaiters();
  }

  async #nextLines(): Promise<readonly string[]> {
    if (this.#cursor >= this.#tail.first) {
      this.#backlog = { first: 0, lines: [] };
      return this.#tail.linesFrom(this.#cursor, LIMITS);
    }
    const { first, lines } = this.#backlog;
    if (this.#cursor < first || this.#cursor >= first + lines.length) {
      const onDisk = await this.#options.readFromDisk(this.#options.lane, this.#cursor);
      this.#backlog = { first: this.#cursor, lines: onDisk };
    }
    const ready = this.#backlog.lines.slice(this.#cursor - this.#backlog.first);
    if (ready.length > 0) return cut(ready);
    // The disk took nothing and the memory could not hold it: said, counted, and never waited for.
    this.#options.events.lost(this.#tail.first - this.#cursor);
    this.#cursor = this.#tail.first;
    return this.#tail.linesFrom(this.#cursor, LIMITS);
  }

  #settleWaiters(): void {
    if (this.#waiters.length === 0) return;
    const done = this.#waiters.filter(({ position }) => position < this.#cursor);
    this.#waiters = this.#waiters.filter(({ position }) => position >= this.#cursor);
    for (const { resolve } of done) resolve();
  }

  /** A full batch goes at once, a smaller one after the age of a batch; an idle click lane says so now and then. */
  async #untilWork(): Promise<void> {
    if (this.depth === 0) {
      const idleMs = this.#options.lane === IMPRESSION_LANE ? IDLE_BATCH_MS * 20 : IDLE_BATCH_MS;
      if (!(await this.#sleep(idleMs))) return;
    }
    if (this.depth < BATCH_RECORDS_MAX) await this.#sleep(BATCH_AGE_MS_MAX, true);
    this.#isUrgent = false;
  }

  /** True when it was woken, false when the time was over. `untilUrgent`: woken only by a full batch. */
  async #sleep(ms: number, untilUrgent = false): Promise<boolean> {
    const { signal } = this.#options;
    return await new Promise((resolve) => {
      const end = (woken: boolean): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        signal.removeEventListener("abort", onAbort);
        resolve(woken);
      };
      const onAbort = (): void => end(false);
      const timer = setTimeout(() => end(false), ms);
      this.#wake = () => {
        if (!untilUrgent || this.#isUrgent) end(true);
      };
      signal.addEventListener("abort", onAbort);
    });
  }
}

const RECORD_TIME = /"ts":(\d{1,15})/;

/** When the last of the records was taken: a producer's records are in the order of their time. 0 for none. */
export function lastTimeOf(lines: readonly string[]): number {
  return Number(RECORD_TIME.exec(lines.at(-1) ?? "")?.[1] ?? 0);
}

/** As many lines as a message may hold, at least one. */
export function cut(lines: readonly string[]): readonly string[] {
  let bytes = 0;
  let count = 0;
  for (const line of lines) {
    if (count > 0 && (count >= BATCH_RECORDS_MAX || bytes + line.length > BATCH_BYTES_MAX)) break;
    bytes += line.length;
    count += 1;
  }
  return lines.slice(0, count);
}

import {
  BATCH_AGE_MS_MAX,
  BATCH_BYTES_MAX,
  BATCH_RECORDS_MAX,
  BUSY_BATCH_AGE_MS_MAX,
  encodeBatch,
  encodeBatchHead,
  IDLE_BATCH_MS,
} from "../../schemas/events/click-batch.ts";
import { IMPRESSION_LANE } from "../../schemas/events/lanes.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import { FRAME_HEAD_BYTES, type FrameBuffer } from "./frame.ts";
import { LaneTail } from "./lane-tail.ts";
import { type BatchMessage, batchId, publishUntilStored } from "./publish-batch.ts";

/** Memory of one lane for records that are not shipped yet. What exceeds it is read from the journal again. */
const TAIL_BYTES_MAX = 12 * 1024 ** 2;
/** Answers that wait for JetStream because the disk took nothing (P6). */
const WAITERS_MAX = 10_000;
/** When the disk does not answer, wait this long before the next attempt. */
const READ_AGAIN_MS = 1_000;

export type LaneShipperOptions = {
  readonly link: NatsLink;
  readonly producer: number;
  readonly epoch: number;
  readonly nonce: string;
  readonly lane: number;
  /** Number of click lanes among which records are distributed now. */
  readonly routedCount: () => number;
  readonly signal: AbortSignal;
  /** UTC ms. */
  readonly nowMs: () => number;
  /** Epochs of the producer below this number have ended and are shipped completely. */
  readonly endedBefore: () => number;
  /** The journal's first records from a position on, at most one segment; undefined when it has none. */
  readonly readFromDisk: (lane: number, position: number) => Promise<Backlog | undefined>;
  readonly events: {
    shipped(records: number, lane: number): void;
    published(seconds: number): void;
    retried(error: unknown): void;
    lost(records: number): void;
  };
};

/** If this many records arrive in a second, it pays to wait for a fuller message. */
export const BUSY_RECORDS_PER_SECOND = 400;
/** Least time between two positions published by a lane without records, however many processes ask. */
const IDLE_REPORT_INTERVAL_MS = 50;

/** The next message of a lane, and how many records it carries or declares lost. */
type Outgoing = {
  readonly records: number;
  readonly areLost?: boolean;
  readonly message: BatchMessage;
};
/** Records without gaps. */
type Backlog = { readonly first: number; readonly lines: readonly string[] };
const NO_BACKLOG: Backlog = { first: 0, lines: [] };

type Waiter = { readonly position: number; readonly resolve: () => void };

/**
 * Ships one lane of the running epoch in order, one message at a time. Invariant: everything before `cursor` was acknowledged by
 * JetStream at least once; everything from it on is in the tail or in the journal.
 */
export class LaneShipper {
  readonly #options: LaneShipperOptions;
  readonly #tail = new LaneTail();
  #cursor = 0;
  /** Records read back from one segment that are not shipped yet. */
  #backlog = NO_BACKLOG;
  #wake: (() => void) | undefined;
  #isUrgent = false;
  #waiters: Waiter[] = [];
  #unrecordedTo = -1;
  #recordsPerSecond = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when the oldest unacknowledged record, or one before it, waits. Counts only while records wait. */
  #waitingSinceMs = 0;
  #announce: () => void = () => undefined;
  /** Whether the lane's writer can know about this epoch. */
  isAnnounced = false;
  /** Records from this position on were distributed among `count` lanes. */
  #routed: { readonly count: number; readonly from: number };
  /** Settles when the lane's writer can know about this epoch. From then on the writer waits for clicks of this epoch. */
  readonly announced: Promise<void>;

  constructor(options: LaneShipperOptions) {
    this.#options = options;
    this.#routed = { count: options.routedCount(), from: 0 };
    this.announced = new Promise((resolve) => {
      this.#announce = resolve;
    });
  }

  /** Position of the first record that JetStream has not acknowledged. */
  get cursor(): number {
    return this.#cursor;
  }

  /** Position of the lane's next record. */
  get next(): number {
    return this.#tail.next;
  }

  /** Records that wait to be shipped. */
  get depth(): number {
    return Math.max(0, this.#tail.next - this.#cursor);
  }

  /** For how long JetStream has acknowledged no record that waits for it; 0 while no record waits. */
  get heldUpMs(): number {
    return this.depth === 0 ? 0 : performance.now() - this.#waitingSinceMs;
  }

  /** Takes the record at the lane's next position. The frame may be overwritten afterwards. */
  take(frame: FrameBuffer): void {
    this.#noteRoutes();
    if (this.depth === 0) this.#waitingSinceMs = performance.now();
    this.#tail.push(frame.bytes, FRAME_HEAD_BYTES, frame.length);
    if (this.#tail.bytes > TAIL_BYTES_MAX) this.#tail.shrinkTo(TAIL_BYTES_MAX / 2);
    if (this.#tail.hasFullMessage) this.#isUrgent = true;
    this.#wake?.();
  }

  /** The record was answered while it was only in our memory. */
  noteUnrecorded(position: number): void {
    this.#unrecordedTo = Math.max(this.#unrecordedTo, position);
  }

  /** Whether JetStream still lacks such a record. */
  get hasUnrecorded(): boolean {
    return this.#unrecordedTo >= this.#cursor;
  }

  /** A process waits for this lane's position. A lane with records publishes it with them. */
  reportPosition(): void {
    if (this.depth === 0 && performance.now() - this.#reportedAtMs > IDLE_REPORT_INTERVAL_MS)
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
    if (!signal.aborted) await this.#shipNext();
    while (!signal.aborted) {
      await this.#untilWork();
      if (signal.aborted) return;
      await this.#shipNext();
    }
  }

  /**
   * Ships the records that are there now. Returns when JetStream has them, or when `signal` ends the wait. The last message says
   * that this epoch has ended, unless records of an earlier epoch are left.
   */
  async drain(signal: AbortSignal): Promise<void> {
    while (this.depth > 0 && !signal.aborted) await this.#shipNext(signal);
    const { link, epoch, endedBefore } = this.#options;
    if (signal.aborted || link.current() === undefined || endedBefore() < epoch) return;
    await this.#shipNext(signal, epoch + 1);
  }

  async #shipNext(
    signal: AbortSignal = this.#options.signal,
    endedBefore: number = this.#options.endedBefore(),
  ): Promise<void> {
    const { link, events } = this.#options;
    let outgoing: Outgoing;
    try {
      outgoing = await this.#next(endedBefore);
      const onRetry = (error: unknown): void => events.retried(error);
      const onStored = (seconds: number): void => events.published(seconds);
      await publishUntilStored(link, outgoing.message, { signal, onRetry, onStored });
    } catch (error) {
      if (signal.aborted) return;
      // The journal could not be read. It still has the records, so the caller tries again.
      events.retried(error);
      await pause(READ_AGAIN_MS, signal);
      return;
    }
    const { records, areLost } = outgoing;
    const nowMs = performance.now();
    this.#recordsPerSecond = (records * 1_000) / (nowMs - this.#reportedAtMs);
    this.#reportedAtMs = nowMs;
    this.#waitingSinceMs = nowMs;
    this.isAnnounced = true;
    this.#announce();
    this.#cursor += records;
    this.#tail.dropBefore(this.#cursor);
    if (areLost === true) events.lost(records);
    else events.shipped(records, this.#options.lane);
    this.#settleWaiters();
  }

  async #next(endedBefore: number): Promise<Outgoing> {
    // Read this before the disk: all records before `inMemory` have left memory, and are in the journal unless the disk refused them.
    const inMemory = this.#tail.first;
    if (this.#cursor < inMemory) {
      await this.#readBacklog(inMemory);
      const first = Math.min(this.#backlog.first, inMemory);
      if (first > this.#cursor) return this.#outgoingLoss(first, endedBefore);
      return this.#outgoingLines(this.#linesOfBacklog(), endedBefore);
    }
    this.#backlog = NO_BACKLOG;
    return this.#outgoingTail(endedBefore);
  }

  /** The next message from memory. Without records it says that there were none until now. */
  #outgoingTail(endedBefore: number): Outgoing {
    const { producer, epoch, nonce, lane, nowMs } = this.#options;
    // Read the clock before the message is closed: clicks answered from now on may be missing from it.
    const cutAtMs = nowMs();
    const message = this.#tail.message();
    const first = this.#cursor;
    const head = { producer, epoch, lane, first, endedBefore, nonce };
    if (message === undefined) {
      const lanes = this.#routedAfter(first);
      const bytes = encodeBatch({ ...head, lanes, at: cutAtMs, lines: [] });
      return { records: 0, message: { lane, id: undefined, bytes } };
    }
    const { records } = message;
    const isCaughtUp = this.#cursor + records >= this.#tail.next;
    const at = isCaughtUp ? cutAtMs : timeOfLine(message.lastLine());
    const lanes = this.#routedAfter(first + records);
    const bytes = message.withHead(encodeBatchHead({ ...head, lanes, at }));
    const id = batchId({ ...head, at }, records);
    return { records, message: { lane, id, bytes } };
  }

  #outgoingLines(lines: readonly string[], endedBefore: number): Outgoing {
    const { producer, epoch, nonce, lane } = this.#options;
    const at = lastTimeOf(lines);
    const first = this.#cursor;
    const lanes = this.#routedAfter(first + lines.length);
    const batch = { producer, epoch, nonce, lane, first, at, endedBefore, lanes, lines };
    const id = batchId(batch, lines.length);
    return { records: lines.length, message: { lane, id, bytes: encodeBatch(batch) } };
  }

  /** Neither memory nor the journal has the records before `end`. The declaration is in order, so no writer reports them as missing. */
  #outgoingLoss(end: number, endedBefore: number): Outgoing {
    const { producer, epoch, nonce, lane } = this.#options;
    const lostFrom = this.#cursor;
    const head = { producer, epoch, nonce, lane, first: end, lostFrom, at: 0, endedBefore };
    const bytes = encodeBatch({ ...head, lines: [] });
    return { records: end - lostFrom, areLost: true, message: { lane, id: undefined, bytes } };
  }

  /** The number of lanes among which the records from this position on are distributed; undefined if the number changes later. */
  #routedAfter(position: number): number | undefined {
    this.#noteRoutes();
    return position >= this.#routed.from ? this.#routed.count : undefined;
  }

  /** Call it before the next record is taken, and before a message says how records are distributed. */
  #noteRoutes(): void {
    const count = this.#options.routedCount();
    if (count !== this.#routed.count) this.#routed = { count, from: this.#tail.next };
  }

  /** Reads the first records from the cursor on that are no longer in memory. */
  async #readBacklog(inMemory: number): Promise<void> {
    const { first, lines } = this.#backlog;
    if (this.#cursor >= first && this.#cursor < first + lines.length) return;
    const onDisk = await this.#options.readFromDisk(this.#options.lane, this.#cursor);
    this.#backlog = onDisk ?? { first: inMemory, lines: [] };
  }

  /** At most one message. */
  #linesOfBacklog(): readonly string[] {
    const from = this.#cursor - this.#backlog.first;
    // Records still in memory are sent from there, because its messages begin there.
    return cut(this.#backlog.lines.slice(from, this.#tail.first - this.#backlog.first));
  }

  #settleWaiters(): void {
    if (this.#waiters.length === 0) return;
    const done = this.#waiters.filter(({ position }) => position < this.#cursor);
    this.#waiters = this.#waiters.filter(({ position }) => position >= this.#cursor);
    for (const { resolve } of done) resolve();
  }

  /** A full batch is sent at once, a smaller one after the age of a batch. An idle click lane publishes its position regularly. */
  async #untilWork(): Promise<void> {
    if (this.depth === 0) {
      const idleMs = this.#options.lane === IMPRESSION_LANE ? IDLE_BATCH_MS * 20 : IDLE_BATCH_MS;
      if (!(await this.#sleep(untilTogether(idleMs)))) return;
    }
    const isBusy = this.#recordsPerSecond >= BUSY_RECORDS_PER_SECOND;
    const ageMs = isBusy ? BUSY_BATCH_AGE_MS_MAX : BATCH_AGE_MS_MAX;
    if (!this.#tail.hasFullMessage) await this.#sleep(ageMs, true);
    this.#isUrgent = false;
  }

  /** Returns true when woken, false when the time is over. With `untilUrgent` only a full batch wakes it. */
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

/**
 * How long until the idle lanes of this process report, which they do at the same moments: one write to NATS, and one read of the writers,
 * for all of them instead of one each. At least a quarter of `everyMs`, because a timer may end a little early.
 */
function untilTogether(everyMs: number): number {
  const leftMs = everyMs - (performance.now() % everyMs);
  return leftMs < everyMs / 4 ? leftMs + everyMs : leftMs;
}

const RECORD_TIME = /"ts":(\d{1,15})/;

/** The time of the newest of the lines, because a producer's records are in the order of their time. 0 for no lines. */
export function lastTimeOf(lines: readonly string[]): number {
  return timeOfLine(lines.at(-1) ?? "");
}

function timeOfLine(line: string): number {
  return Number(RECORD_TIME.exec(line)?.[1] ?? 0);
}

/** The first lines, as many as fit into one message; at least one. */
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

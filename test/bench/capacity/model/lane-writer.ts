import { flushDueInMs } from "../../../../processors/clicks/lane/flush-due.ts";
import { CODE } from "../code-limits.ts";
import type { Ages } from "./ages.ts";
import type { EventQueue } from "./event-queue.ts";
import type { Message } from "./lane-shipper.ts";
import { Level } from "./level.ts";
import { Fifo, type Thread } from "./thread.ts";

type Batch = { rows: number; openedAtMs: number | undefined; readonly messages: Message[] };

export type LaneWriterOptions = {
  readonly events: EventQueue;
  /** The process of the writer, which lanes may share. */
  readonly process: Thread;
  /** The inserts of this lane: one at a time. */
  readonly inserts: Thread;
  readonly rowMs: number;
  readonly insertMs: (rows: number) => number;
  readonly recordBytes: number;
  /** These rows are stored. */
  readonly onStored: (rows: number) => void;
  readonly ages: Ages;
};

/** One lane's writer, as processors/clicks reads and inserts: it decides with the same `flushDueInMs` when an insert is due. */
export class LaneWriter {
  readonly #options: LaneWriterOptions;
  readonly #unread = new Fifo<Message>();
  readonly #batches: Batch[] = [newBatch()];
  #isReading = false;
  #isInserting = false;
  #lastInsert = { atMs: Number.NEGATIVE_INFINITY, rows: 0 };
  #turn = 0;
  /** Rows in the stream that the writer has not read. */
  readonly unread: Level;
  /** Rows that were read and are not stored. */
  readonly unstored: Level;
  inserts = 0;

  constructor(options: LaneWriterOptions) {
    this.#options = options;
    const nowMs = (): number => options.events.nowMs;
    this.unread = new Level(nowMs);
    this.unstored = new Level(nowMs);
  }

  deliver(message: Message): void {
    this.#unread.push(message);
    this.unread.add(message.rows);
    this.#read();
  }

  restart(): void {
    this.unread.restart();
    this.unstored.restart();
    this.inserts = 0;
  }

  #read(): void {
    const isFull = this.#batches.length > CODE.batchesWaitingMax;
    if (this.#isReading || isFull) return;
    const message = this.#unread.shift();
    if (message === undefined) return;
    this.#isReading = true;
    const { process, rowMs, events } = this.#options;
    process.do(message.rows * rowMs, () => {
      this.#isReading = false;
      this.unread.add(-message.rows);
      this.unstored.add(message.rows);
      const batch = this.#last();
      batch.openedAtMs ??= events.nowMs;
      batch.rows += message.rows;
      batch.messages.push(message);
      if (this.#isLarge(batch)) this.#batches.push(newBatch());
      this.#insertIfDue();
      this.#read();
    });
  }

  #isLarge({ rows }: Batch): boolean {
    return rows >= CODE.insertRowsMax || rows * this.#options.recordBytes >= CODE.insertBytesMax;
  }

  #last(): Batch {
    const last = this.#batches.at(-1);
    if (last !== undefined) return last;
    const fresh = newBatch();
    this.#batches.push(fresh);
    return fresh;
  }

  #insertIfDue(): void {
    if (this.#isInserting) return;
    const { events } = this.#options;
    const [first] = this.#batches;
    if (first === undefined) return;
    const dueMs = flushDueInMs(
      { ...first, hasWork: first.rows > 0 },
      { isComplete: this.#batches.length > 1, lastInsert: this.#lastInsert, nowMs: events.nowMs },
    );
    if (dueMs <= 0) {
      this.#insert(first);
      return;
    }
    this.#turn += 1;
    const turn = this.#turn;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    events.after(dueMs, () => {
      if (turn === this.#turn) this.#insertIfDue();
    });
  }

  #insert(batch: Batch): void {
    const { events, inserts, insertMs, ages, onStored } = this.#options;
    if (this.#batches.length === 1) this.#batches.push(newBatch());
    this.#isInserting = true;
    this.inserts += 1;
    this.#lastInsert = { atMs: events.nowMs, rows: batch.rows };
    inserts.do(insertMs(batch.rows), () => {
      this.#isInserting = false;
      this.#batches.shift();
      this.unstored.add(-batch.rows);
      for (const { rows, oldestAtMs } of batch.messages) ages.note(events.nowMs - oldestAtMs, rows);
      onStored(batch.rows);
      this.#read();
      this.#insertIfDue();
    });
  }
}

function newBatch(): Batch {
  return { rows: 0, openedAtMs: undefined, messages: [] };
}

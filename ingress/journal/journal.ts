import { closeSync, fdatasync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Recorded } from "../route.ts";
import { encodeRecord } from "./encode-record.ts";
import { encodeFrame, type JournalRecord, recordLine } from "./frame.ts";

/** `interval`: on disk within {@link SYNC_INTERVAL_MS}, the answer does not wait · `always`: the answer waits · `none`. */
export type SyncMode = "interval" | "always" | "none";

/** Small enough to be read back whole. */
const SEGMENT_BYTES_MAX = 16 * 1024 ** 2;
const SYNC_INTERVAL_MS = 20;

/** Which records a segment holds: of each lane, positions from `first` up to but not including `next`. */
export type SegmentIndex = {
  readonly path: string;
  readonly epoch: number;
  readonly lanes: Map<number, { first: number; next: number }>;
  bytes: number;
};

export type JournalOptions = {
  readonly folder: string;
  readonly epoch: number;
  readonly sync: SyncMode;
  /** Told of every record in the turn in which it became durable, before its answer leaves. */
  readonly onWritten: (records: readonly JournalRecord[]) => void;
  /**
   * The disk took nothing. `done` must be called once, whatever came of it: the answers of the turn wait for it (P6).
   */
  readonly onDiskFault: (
    records: readonly JournalRecord[],
    error: unknown,
    done: () => void,
  ) => void;
};

type Turn = { readonly records: JournalRecord[]; readonly waiting: (() => void)[] };

/**
 * The journal of one process. A record is written before its answer, in its own handler; with `always` the records of one turn of
 * the event loop share a write and a sync. Invariant: an answer never leaves before its record is with the kernel, or
 * with `always` on the disk.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #nextPosition = new Map<number, number>();
  readonly #segments: SegmentIndex[] = [];
  #descriptor = -1;
  #segmentNumber = 0;
  #turn: Turn = { records: [], waiting: [] };
  #isScheduled = false;
  #syncTimer: NodeJS.Timeout | undefined;
  #isSyncing = false;
  #unsynced = 0;
  #waitingForSync: (() => void)[] = [];
  #closed = false;

  private constructor(options: JournalOptions) {
    this.#options = options;
  }

  static open(options: JournalOptions): Journal {
    const journal = new Journal(options);
    journal.#openSegment();
    if (options.sync === "interval") {
      journal.#syncTimer = setInterval(() => journal.#sync(), SYNC_INTERVAL_MS);
      journal.#syncTimer.unref();
    }
    return journal;
  }

  /** Segments that may hold records nobody has confirmed yet, oldest first; the last one is being written. */
  get segments(): readonly SegmentIndex[] {
    return this.#segments;
  }

  /** Position that the next record of the lane gets. */
  nextPosition(lane: number): number {
    return this.#nextPosition.get(lane) ?? 0;
  }

  /** Calls `whenDurable` when the record is, at the end of this turn or with `always` after the disk has it. */
  append(recorded: Recorded, whenDurable: () => void): void {
    const { lane } = recorded;
    const position = this.nextPosition(lane);
    this.#nextPosition.set(lane, position + 1);
    this.#turn.records.push({ lane, position, line: encodeRecord(recorded.record) });
    this.#turn.waiting.push(whenDurable);
    // Answered within its own handler: the server cuts pipelined requests off while an answer is pending.
    if (this.#options.sync !== "always") {
      this.flush();
      return;
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }

  /** Writes what this turn has gathered. */
  flush(): void {
    this.#isScheduled = false;
    const { records, waiting } = this.#turn;
    if (records.length === 0) return;
    this.#turn = { records: [], waiting: [] };
    const answer = (): void => {
      for (const done of waiting) done();
    };
    try {
      this.#write(records);
    } catch (error) {
      this.#options.onDiskFault(records, error, answer);
      return;
    }
    this.#options.onWritten(records);
    if (this.#options.sync !== "always") {
      answer();
      return;
    }
    this.#waitingForSync.push(answer);
    this.#sync();
  }

  /** Forgets segments from the front while `isPassed` says that everybody has what they hold. Answers their paths. */
  takePassedSegments(isPassed: (segment: SegmentIndex) => boolean): string[] {
    const passed: string[] = [];
    for (;;) {
      const [oldest] = this.#segments;
      if (oldest === undefined || this.#segments.length === 1 || !isPassed(oldest)) return passed;
      passed.push(oldest.path);
      this.#segments.shift();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#closed = true;
    clearInterval(this.#syncTimer);
    closeSync(this.#descriptor);
  }

  #write(records: readonly JournalRecord[]): void {
    const current = this.#segments.at(-1);
    if (current === undefined || current.bytes >= SEGMENT_BYTES_MAX) this.#openSegment();
    const segment = this.#segments.at(-1);
    if (segment === undefined) throw new Error("the journal has no segment");
    const frame = encodeFrame(records.map(recordLine).join(""));
    let written = 0;
    while (written < frame.length) {
      written += writeSync(
        this.#descriptor,
        frame,
        written,
        frame.length - written,
        segment.bytes + written,
      );
    }
    segment.bytes += frame.length;
    this.#unsynced += 1;
    for (const { lane, position } of records) {
      const range = segment.lanes.get(lane);
      if (range === undefined) segment.lanes.set(lane, { first: position, next: position + 1 });
      else range.next = position + 1;
    }
  }

  #openSegment(): void {
    const number = this.#segmentNumber + 1;
    const path = join(
      this.#options.folder,
      `${this.#options.epoch}-${String(number).padStart(6, "0")}.wal`,
    );
    const descriptor = openSync(path, "w", 0o600);
    if (this.#descriptor !== -1) {
      if (this.#options.sync !== "none") fdatasyncSync(this.#descriptor);
      closeSync(this.#descriptor);
    }
    this.#descriptor = descriptor;
    this.#segmentNumber = number;
    this.#segments.push({ path, epoch: this.#options.epoch, lanes: new Map(), bytes: 0 });
  }

  /** One at a time; what came meanwhile goes with the next one. */
  #sync(): void {
    if (this.#isSyncing || this.#unsynced === 0 || this.#closed) return;
    this.#isSyncing = true;
    const unsynced = this.#unsynced;
    const waiting = this.#waitingForSync;
    this.#waitingForSync = [];
    fdatasync(this.#descriptor, (error) => {
      this.#isSyncing = false;
      // The descriptor of a segment that was closed meanwhile was synced when it was closed.
      if (error === null || this.#closed) this.#unsynced -= unsynced;
      for (const done of waiting) done();
      if (this.#waitingForSync.length > 0) this.#sync();
    });
  }
}

import { closeSync, fsync, openSync } from "node:fs";
import { join } from "node:path";
import type { Recorded } from "../route.ts";
import { FrameBuffer } from "./frame.ts";
import type { JournalSegments, SegmentIndex } from "./journal-segments.ts";
import { openSegmentMedium, type SegmentMedium, type SegmentWriter } from "./segment-writer.ts";
import { SyncGroup } from "./sync-group.ts";

/** `interval`: on disk within {@link SYNC_INTERVAL_MS}, the answer does not wait · `always`: the answer waits · `none`. */
export type SyncMode = "interval" | "always" | "none";

const SYNC_INTERVAL_MS = 20;
/** After the disk had no room for a segment, wait this long before the next attempt, so that not every click tries. */
const OPEN_AGAIN_MS = 1_000;

const APPENDS_PER_MEASURE = 16;

/** The position of a record. Positions count from 0 in (producer, epoch, lane). */
export type RecordPosition = { readonly lane: number; readonly position: number };

/** What an answer has to wait for. It calls `done` once, when the answer may leave. */
export type Pending = (done: () => void) => void;

export type JournalOptions = {
  readonly folder: string;
  readonly epoch: number;
  /** The journal adds each segment with its first record. */
  readonly segments: JournalSegments;
  readonly sync: SyncMode;
  /** Bytes of the disk that the journal leaves free; undefined for the usual share. */
  readonly reserveBytes: number | undefined;
  /** Called for every record, in order, before its answer leaves. The next record overwrites the frame. */
  readonly onTaken: (at: RecordPosition, frame: FrameBuffer) => void;
  /** The disk did not accept the record. Returns what the answer waits for instead (P6). */
  readonly onDiskFault: (at: RecordPosition, error: unknown) => Pending;
  /** A sync failed: written records may not be on the disk, and a power cut could take them (P8). */
  readonly onSyncFault: (error: Error) => void;
  readonly times?: JournalTimes;
};

/** Takes durations in seconds: of one append in {@link APPENDS_PER_MEASURE}, and of each sync. */
export type JournalTimes = {
  appended(seconds: number): void;
  synced(seconds: number): void;
};

type OpenSegment = {
  readonly index: SegmentIndex;
  readonly writer: SegmentWriter;
  readonly group: SyncGroup;
};

/**
 * The journal of one process. A record is written before its answer, in its own handler. Invariant: an answer never leaves
 * before its record is with the kernel, or with `always` on the disk. What the disk refuses goes to `onDiskFault`.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #nextPosition = new Map<number, number>();
  readonly #closing = new Set<Promise<void>>();
  readonly #frame = new FrameBuffer();
  readonly #folder: number;
  readonly #medium: SegmentMedium;
  #current: OpenSegment | undefined;
  #segmentNumber = 0;
  #openFault: { readonly error: unknown; readonly untilMs: number } | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  #closed = false;
  #untilMeasure = APPENDS_PER_MEASURE;

  private constructor(options: JournalOptions) {
    this.#options = options;
    this.#folder = openSync(options.folder, "r");
    this.#medium = openSegmentMedium(options.folder, options.reserveBytes);
  }

  static open(options: JournalOptions): Journal {
    return new Journal(options);
  }

  /** Position of the lane's next record. */
  nextPosition(lane: number): number {
    return this.#nextPosition.get(lane) ?? 0;
  }

  /** Returns undefined when the record is durable enough for its answer to leave, else what the answer must wait for. */
  append(recorded: Recorded): Pending | undefined {
    this.#untilMeasure -= 1;
    if (this.#untilMeasure > 0) return this.#append(recorded);
    this.#untilMeasure = APPENDS_PER_MEASURE;
    const startedAtMs = performance.now();
    const pending = this.#append(recorded);
    this.#options.times?.appended((performance.now() - startedAtMs) / 1_000);
    return pending;
  }

  #append({ lane, line }: Recorded): Pending | undefined {
    const position = this.nextPosition(lane);
    const at = { lane, position };
    const frame = this.#frame.encode({ lane, position, line });
    this.#nextPosition.set(lane, position + 1);
    // In memory first: the record goes to JetStream also when the disk refuses it.
    this.#options.onTaken(at, frame);
    let segment: OpenSegment;
    try {
      segment = this.#put(at, frame);
    } catch (error) {
      return this.#options.onDiskFault(at, error);
    }
    if (this.#options.sync !== "always") return undefined;
    return (done) => {
      segment.group.whenSynced((error) => {
        if (error === null) done();
        else this.#options.onDiskFault(at, error)(done);
      });
    };
  }

  /** Resolves when everything is on the disk and all files are closed. */
  async close(): Promise<void> {
    clearTimeout(this.#syncTimer);
    this.#retire();
    await Promise.all(this.#closing);
    this.#options.segments.close();
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#folder);
    this.#medium.close();
  }

  #put({ lane, position }: RecordPosition, frame: FrameBuffer): OpenSegment {
    let segment = this.#current ?? this.#openNext();
    if (!segment.writer.put(frame.bytes, frame.length)) {
      segment = this.#openNext();
      if (!segment.writer.put(frame.bytes, frame.length)) {
        throw new Error(`a record of ${frame.length} bytes fits in no segment`);
      }
    }
    const { group, index } = segment;
    if (this.#options.sync !== "none") group.noteWritten();
    if (this.#options.sync === "interval") this.#syncSoon();
    const range = index.lanes.get(lane);
    if (range === undefined) index.lanes.set(lane, { first: position, next: position + 1 });
    else range.next = position + 1;
    return segment;
  }

  /** At most {@link SYNC_INTERVAL_MS} after the record. A sync that takes longer is followed by another one. */
  #syncSoon(): void {
    if (this.#syncTimer !== undefined || this.#closed) return;
    this.#syncTimer = setTimeout(() => {
      this.#syncTimer = undefined;
      const group = this.#current?.group;
      group?.start();
      if (group?.isDirty === true) this.#syncSoon();
    }, SYNC_INTERVAL_MS).unref();
  }

  #openNext(): OpenSegment {
    const nowMs = performance.now();
    if (this.#openFault !== undefined && nowMs < this.#openFault.untilMs) {
      throw this.#openFault.error;
    }
    const { folder, epoch, segments, onSyncFault, times } = this.#options;
    const number = this.#segmentNumber + 1;
    const path = join(folder, `${epoch}-${String(number).padStart(6, "0")}.wal`);
    let writer: SegmentWriter;
    try {
      writer = this.#medium.open(path);
    } catch (error) {
      this.#openFault = { error, untilMs: nowMs + OPEN_AGAIN_MS };
      throw error;
    }
    this.#openFault = undefined;
    this.#retire();
    this.#segmentNumber = number;
    const index: SegmentIndex = { path, epoch, lanes: new Map() };
    const syncFolder = (done: (error: Error | null) => void): void => fsync(this.#folder, done);
    const group = new SyncGroup(writer, syncFolder, {
      onFault: onSyncFault,
      onSynced: (seconds) => times?.synced(seconds),
    });
    this.#current = { index, writer, group };
    segments.add(index);
    return this.#current;
  }

  /** Syncs and closes the last segment without holding up requests. */
  #retire(): void {
    const closed = this.#current?.group.close();
    this.#current = undefined;
    if (closed === undefined) return;
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
  }
}

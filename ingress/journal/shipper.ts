import { setMaxListeners } from "node:events";
import type { LaneSource } from "../../schemas/events/lane-source.ts";
import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { Nats } from "../../schemas/nats/connect.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { FrameBuffer } from "./frame.ts";
import type { RecordPosition } from "./journal.ts";
import type { JournalSegments } from "./journal-segments.ts";
import { KeyedBackoff } from "./keyed-backoff.ts";
import { messageToRepeat, publishUntilStored } from "./publish-batch.ts";
import { type Range, type Run, reshipRanges, runsOf } from "./reship.ts";
import { readSegment, removeSegment } from "./segment-files.ts";
import { LaneShipper } from "./ship-lane.ts";
import { UnstoredRecords } from "./unstored-records.ts";
import type { Passed, WatermarkBook } from "./watermarks.ts";

const TICK_MS = 1_000;
const STORED_LOOK_MS = 50;
/** What JetStream acknowledged and no writer stored within this time is shipped again (P3), then after twice as long. */
const STUCK_MS = 120_000;
const STUCK_MS_MAX = 6 * 3_600_000;
/** A writer that was silent for this long is down: shipping again would only fill the stream. */
const WRITER_SILENT_MS = 10_000;
/** Most records of one range shipped again in one round. The rest waits for the next watermark. */
const RESHIPPED_RECORDS_MAX = 100_000;
/** A range is not shipped again within this time: the writer may have other messages to read first. */
const AGAIN_MS = 5_000;
const AGAIN_MS_MAX = 600_000;

export type ShipperEvents = {
  shipped(records: number, lane: number): void;
  published(seconds: number): void;
  retried(error: unknown): void;
  lost(records: number): void;
  reshipped(ranges: number): void;
};

/** The state of a lane, in records. */
export type LaneReading = {
  readonly lane: number;
  /** Not acknowledged by JetStream. */
  readonly depth: number;
  /** Not reported as stored by a writer. */
  readonly unstored: number;
  readonly oldestUnstoredSeconds: number;
};

/** The running epoch of a producer. */
export type RunningEpoch = {
  readonly producer: number;
  readonly epoch: number;
  readonly nonce: string;
};

export type ShipperOptions = {
  readonly link: NatsLink;
  readonly run: RunningEpoch;
  readonly lanes: LaneSource;
  readonly segments: JournalSegments;
  readonly book: WatermarkBook;
  readonly log: Log;
  readonly events: ShipperEvents;
  readonly nowMs: () => number;
  /** A writer gives this epoch to another process and stores nothing shipped under it. Called once. */
  readonly onRefused: () => void;
};

/**
 * Ships the records of the running epoch to JetStream, ships again what a writer misses, and removes segments when the writers
 * have everything in them. JetStream's acknowledgement alone is never enough for that (P3).
 */
export class Shipper {
  readonly #options: ShipperOptions;
  readonly #abort = new AbortController();
  readonly #lanes = new Map<number, LaneShipper>();
  readonly #unstored = new Map<number, UnstoredRecords>();
  readonly #missing = new KeyedBackoff({ firstMs: AGAIN_MS, longestMs: AGAIN_MS_MAX });
  /** By lane: the position that its writer has not stored although JetStream has it, and since when it is seen so. */
  readonly #waiting = new Map<number, { readonly from: number; readonly sinceMs: number }>();
  readonly #stuck = new KeyedBackoff({ firstMs: STUCK_MS, longestMs: STUCK_MS_MAX });
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;
  #isRefused = false;
  #isStarted = false;
  #areLeftoversStored = false;
  /** Lanes in which every record of earlier epochs is stored. */
  readonly #ended = new Set<number>();
  #runs: Promise<void>[] = [];

  constructor(options: ShipperOptions) {
    this.#options = options;
    // Every lane waits for it; the warning is about listeners that nobody removes.
    setMaxListeners(0, this.#abort.signal);
    for (const lane of options.lanes.present().all) this.#open(lane);
    options.link.onConnection((nats) => {
      for (const lane of this.#lanes.keys()) this.#answerPositions(nats, lane);
    });
  }

  /** Settles when the writers can know about this epoch. */
  get announced(): Promise<unknown> {
    return Promise.all([...this.#lanes.values()].map((lane) => lane.announced));
  }

  /** Call when the writers have everything that earlier epochs left. */
  leftoversAreStored(): void {
    this.#areLeftoversStored = true;
  }

  /** Call when every record of earlier epochs in this lane is stored. */
  leftoversAreStoredIn(lane: number): void {
    this.#ended.add(lane);
  }

  #endedBefore(lane: number): number {
    return this.#areLeftoversStored || this.#ended.has(lane) ? this.#options.run.epoch : 0;
  }

  start(): void {
    this.#isStarted = true;
    this.#runs = [...this.#lanes.values()].map((lane) => lane.run());
    this.#timer = setInterval(() => void this.#tick(), TICK_MS);
  }

  /** Records that JetStream has not acknowledged. */
  get depth(): number {
    return [...this.#lanes.values()].reduce((sum, lane) => sum + lane.depth, 0);
  }

  /** What each lane has taken since the start and not shipped, or not seen stored. */
  get lanes(): LaneReading[] {
    const { book, run } = this.#options;
    const nowMs = performance.now();
    return [...this.#lanes].map(([lane, { next, depth }]) => {
      const passed = book.of({ ...run, lane });
      const missing = passed?.missing ?? [];
      const stored = Math.min(passed?.next ?? 0, next);
      const unstored = missing.reduce((sum, [from, to]) => sum + to - from, next - stored);
      const oldest = Math.min(stored, ...missing.map(([from]) => from));
      const ageSeconds = unstored > 0 ? this.#unstored.get(lane)?.ageOf(oldest, nowMs) : 0;
      return { lane, depth, unstored, oldestUnstoredSeconds: ageSeconds ?? 0 };
    });
  }

  /** Takes the record of a frame, which may then be overwritten. */
  take({ lane }: RecordPosition, frame: FrameBuffer): void {
    (this.#lanes.get(lane) ?? this.#open(lane)).take(frame);
  }

  /** A record was answered that is only in our memory until it is shipped (P6). */
  noteUnrecorded({ lane, position }: RecordPosition): void {
    this.#lanes.get(lane)?.noteUnrecorded(position);
  }

  /** For how long JetStream has acknowledged nothing of the lane that waits longest. */
  get heldUpMs(): number {
    return Math.max(0, ...[...this.#lanes.values()].map((lane) => lane.heldUpMs));
  }

  get hasUnrecorded(): boolean {
    return [...this.#lanes.values()].some((lane) => lane.hasUnrecorded);
  }

  /** Resolves when JetStream has the record, or never. */
  async whenShipped({ lane, position }: RecordPosition): Promise<void> {
    await this.#lanes.get(lane)?.whenShipped(position);
  }

  /** Waits until the writers have everything, and its segments are removed. Returns false when `signal` ends the wait. */
  async untilStored(signal: AbortSignal): Promise<boolean> {
    while (this.#options.segments.all.length > 0 && !signal.aborted) {
      await this.#tick();
      await pause(STORED_LOOK_MS, signal);
    }
    return this.#options.segments.all.length === 0;
  }

  /** Ships what is left, at most for `deadlineMs`; the rest stays in the journal for the next start. */
  async close(deadlineMs: number): Promise<void> {
    clearInterval(this.#timer);
    this.#abort.abort();
    await Promise.all(this.#runs);
    const deadline = AbortSignal.timeout(deadlineMs);
    await Promise.all([...this.#lanes.values()].map((lane) => lane.drain(deadline)));
  }

  /** Call it before the lane's first record is taken: the shipper counts positions from 0. */
  #open(lane: number): LaneShipper {
    const { link, lanes, run, nowMs, events } = this.#options;
    const { signal } = this.#abort;
    const shipper = new LaneShipper({
      ...run,
      link,
      lane,
      signal,
      nowMs,
      events,
      readFromDisk: (asked, position) => this.#readFromDisk(asked, position),
      endedBefore: () => this.#endedBefore(lane),
      routedCount: () => lanes.routed().count,
    });
    this.#unstored.set(lane, new UnstoredRecords());
    this.#lanes.set(lane, shipper);
    if (!this.#isStarted) return shipper;
    const nats = link.current();
    if (nats !== undefined) this.#answerPositions(nats, lane);
    this.#runs.push(shipper.run());
    return shipper;
  }

  /** Announces this epoch in new lanes, and then puts clicks there. Without NATS nothing changes. */
  #followLanes(): void {
    const { lanes, log } = this.#options;
    const present = lanes.present();
    const opened = present.all
      .filter((lane) => !this.#lanes.has(lane))
      .map((one) => this.#open(one));
    if (opened.length > 0)
      void Promise.all(opened.map(({ announced }) => announced)).then(() => this.#followLanes());
    if (present.count <= lanes.routed().count) return;
    if (!present.all.every((lane) => this.#lanes.get(lane)?.isAnnounced === true)) return;
    lanes.route(present);
    log.info({ lanes: present.count }, "journal.lanes-raised");
    // Their writers wait for this, and for nothing else.
    for (const lane of this.#lanes.values()) lane.reportPosition();
  }

  #answerPositions({ connection, subjects }: Nats, lane: number): void {
    connection.subscribe(subjects.clickPositionRequest(lane), {
      callback: (error) => {
        if (error === null) this.#lanes.get(lane)?.reportPosition();
        else this.#options.log.error({ err: error, lane }, "journal.subscription-failed");
      },
    });
  }

  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      const nowMs = performance.now();
      this.#followLanes();
      for (const [lane, { next }] of this.#lanes) this.#unstored.get(lane)?.note(next, nowMs);
      this.#lookForRefusal();
      await this.#forgetPassed();
      await this.#reship(this.#missingRanges(), true);
      await this.#reship(this.#stuckRanges(), false);
    } catch (error) {
      if (!this.#abort.signal.aborted)
        this.#options.log.error({ err: error }, "journal.tick-failed");
    } finally {
      this.#isTicking = false;
    }
  }

  #lookForRefusal(): void {
    const { book, run, onRefused } = this.#options;
    if (this.#isRefused) return;
    this.#isRefused = [...this.#lanes.keys()].some((lane) => book.isRefused({ ...run, lane }));
    if (this.#isRefused) onRefused();
  }

  async #forgetPassed(): Promise<void> {
    const { book, run, segments } = this.#options;
    const paths = segments.takePassed((segment) =>
      [...segment.lanes].every(([lane, { first, next }]) =>
        book.hasPassed({ ...run, lane, first, next }),
      ),
    );
    for (const path of paths) await removeSegment(path);
  }

  /** What writers that are not silent have read past. */
  #missingRanges(): Range[] {
    const nowMs = performance.now();
    return [...this.#heard(nowMs)].flatMap(({ lane, passed }) =>
      passed.missing
        .filter(([from, to]) => this.#missing.takeIfDue(`${lane} ${from}-${to}`, nowMs))
        .map(([from, to]) => this.#rangeOf(lane, from, to)),
    );
  }

  /** What JetStream acknowledged long ago and writers that are not silent have not stored. */
  #stuckRanges(): Range[] {
    const nowMs = performance.now();
    const ranges: Range[] = [];
    for (const { lane, passed, cursor } of this.#heard(nowMs)) {
      const { next: from } = passed;
      const isStuck = nowMs - this.#waitsSince(lane, { from, cursor }, nowMs) > STUCK_MS;
      if (isStuck && this.#stuck.takeIfDue(`${lane} ${from}`, nowMs))
        ranges.push(this.#rangeOf(lane, from, cursor));
    }
    return ranges;
  }

  /** Since when JetStream has the record that the lane's writer stores next. Before that there was nothing to store, however long ago. */
  #waitsSince(
    lane: number,
    { from, cursor }: { from: number; cursor: number },
    nowMs: number,
  ): number {
    const known = this.#waiting.get(lane);
    if (from < cursor && known?.from === from) return known.sinceMs;
    if (from < cursor) this.#waiting.set(lane, { from, sinceMs: nowMs });
    else this.#waiting.delete(lane);
    return nowMs;
  }

  *#heard(nowMs: number): Generator<{ lane: number; cursor: number; passed: Passed }> {
    const { book, run } = this.#options;
    for (const [lane, { cursor }] of this.#lanes) {
      const passed = book.of({ ...run, lane });
      if (passed !== undefined && nowMs - passed.reportedAtMs <= WRITER_SILENT_MS)
        yield { lane, cursor, passed };
    }
  }

  #rangeOf(lane: number, from: number, to: number): Range {
    const { epoch } = this.#options.run;
    return { epoch, lane, from, to: Math.min(to, from + RESHIPPED_RECORDS_MAX) };
  }

  /**
   * `mayDeclareLost`: whether what no segment has is lost. What is stuck is in JetStream, even if the disk never had it (P6). If JetStream lost
   * it, its writer lists it as missing as soon as it reads a later position, and then it is declared.
   */
  async #reship(ranges: readonly Range[], mayDeclareLost: boolean): Promise<void> {
    if (ranges.length === 0) return;
    const { run, link, events, log } = this.#options;
    const { signal } = this.#abort;
    log.warn({ ranges: ranges.length }, "journal.reshipping");
    const lost = await reshipRanges({
      identityOf: () => run,
      mayDeclareLost: () => mayDeclareLost,
      ranges,
      segments: this.#options.segments.all,
      publish: (batch) =>
        publishUntilStored(link, messageToRepeat(batch), {
          signal,
          onRetry: (error) => events.retried(error),
        }),
    });
    events.reshipped(ranges.length);
    if (lost > 0) {
      events.lost(lost);
      log.error({ lost }, "journal.records-lost");
    }
  }

  async #readFromDisk(lane: number, position: number): Promise<Run | undefined> {
    const { all } = this.#options.segments;
    for (const { path } of all.filter(({ lanes }) => (lanes.get(lane)?.next ?? 0) > position)) {
      const { records } = await readSegment(path);
      const [run] = runsOf(
        records.filter((record) => record.lane === lane && record.position >= position),
      );
      if (run !== undefined) return run;
    }
    return undefined;
  }
}

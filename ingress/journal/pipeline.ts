import { statSync } from "node:fs";
import type { LaneSource } from "../../schemas/events/lane-source.ts";
import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import type { Queryable } from "../../schemas/postgres/connect.ts";
import { systemClock } from "../../schemas/time/clock.ts";
import type { Recorded } from "../route.ts";
import { type AdoptionOptions, adoptOrphans } from "./adopt.ts";
import { allocateFolderNumber, allocateProducer } from "./allocate-producer.ts";
import { roomOn } from "./disk-room.ts";
import { Journal, type JournalTimes, type Pending, type SyncMode } from "./journal.ts";
import { JournalSegments } from "./journal-segments.ts";
import { leaveNumber } from "./leave-number.ts";
import { untilLeftoversAreShipped } from "./leftovers.ts";
import { ProducerClaim } from "./producer-claim.ts";
import type { ProducerFolder } from "./producer-folder.ts";
import { recordDurably } from "./record-durably.ts";
import { type LaneReading, Shipper, type ShipperEvents } from "./shipper.ts";
import { WatermarkBook } from "./watermarks.ts";

const CLOSE_SHIPPER_MS = 5_000;
const CONFIRMATION_LOOK_MS = 500;
const STORED_LOOK_MS = 50;
/** Longer than a slow acknowledgement, shorter than an edge takes to leave a host. */
const HELD_UP_MS = 2_000;

export type PipelineEvents = ShipperEvents & {
  readonly journalTimes: JournalTimes;
  taken(lane: number): void;
  /** Another process has the producer number. */
  twinFound(): void;
  /** The disk did not accept a record. */
  diskFailed(error: unknown): void;
  /** A sync failed: the disk may lose what it has taken. */
  syncFailed(error: unknown): void;
  /** A record was answered that is only in our memory. */
  unrecorded(): void;
};

export type PipelineOptions = {
  /** Holds the folders of all producers of this machine. */
  readonly journalPath: string;
  /** The folder of this producer, locked by this process. */
  readonly folder: ProducerFolder;
  readonly sync: SyncMode;
  /** Bytes of the disk that the journal leaves free; undefined for the usual share. */
  readonly reserveBytes: number | undefined;
  /** At the end, how long to wait until the writers have everything; the rest stays on the disk. */
  readonly storedMs: number;
  readonly db: Queryable;
  readonly link: NatsLink;
  readonly lanes: LaneSource;
  readonly log: Log;
  readonly events: PipelineEvents;
  /** The process ends: no folder is adopted and no number left any more. Own leftovers are shipped until {@link Pipeline.close}. */
  readonly signal: AbortSignal;
  /** Undefined: journals of dead processes are left alone. */
  readonly others: AdoptionOptions["others"] | undefined;
  /** Another process has the producer number. The next start of this process has its own number. Called once. */
  readonly onNumberLeft: () => Promise<void>;
};

/**
 * Carries records from the answer to the click writers. It owns the journal of this start, its shipper, the leftovers of earlier starts and
 * dead processes, and the claim on the producer number under which all of them are shipped.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #segments = new JournalSegments();
  readonly #book: WatermarkBook;
  readonly #shipper: Shipper;
  readonly #journal: Journal;
  readonly #claim: ProducerClaim;
  readonly #allocate: (claim: string) => Promise<number>;
  readonly #leftovers = new AbortController();
  #areLeftoversStored = false;
  #areLeftoversEnded = false;
  #isLeaving = false;

  /** Opens the journal and subscribes to the click writers. Records may be appended; none is shipped before {@link start}. */
  constructor(options: PipelineOptions) {
    this.#options = options;
    const { folder, db, link, log } = options;
    this.#allocate = (claim) => allocateProducer(db, claim);
    const onLost = (reason: string): void => this.#leave(reason);
    this.#claim = new ProducerClaim({ db, folder, log, onLost });
    this.#book = new WatermarkBook((error) => log.error({ err: error }, "watermark.unreadable"));
    link.onConnection((nats) => this.#book.follow(nats));
    this.#shipper = this.#openShipper();
    this.#journal = this.#openJournal(this.#shipper);
  }

  /** Ships records, claims the producer number, and ships what earlier starts and dead processes left. */
  start(): void {
    this.#claim.start();
    this.#shipper.start();
    const { log, signal } = this.#options;
    const report = (error: unknown, { aborted }: AbortSignal): void => {
      if (!aborted) log.error({ err: error }, "journal.leftovers-failed");
    };
    this.#shipLeftovers().catch((error: unknown) => report(error, this.#leftovers.signal));
    this.#adopt().catch((error: unknown) => report(error, signal));
  }

  /** Returns undefined when the record is durable enough for its answer to leave, else what the answer must wait for. */
  append(recorded: Recorded): Pending | undefined {
    return this.#journal.append(recorded);
  }

  /** Position of the lane's next record. */
  nextPosition(lane: number): number {
    return this.#journal.nextPosition(lane);
  }

  /** Settles when the writers can know about this epoch. */
  get announced(): Promise<unknown> {
    return this.#shipper.announced;
  }

  /** Records that JetStream has not acknowledged. */
  get depth(): number {
    return this.#shipper.depth;
  }

  /** Whether an answered record is still only in our memory (P6). */
  get hasUnrecorded(): boolean {
    return this.#shipper.hasUnrecorded;
  }

  /** Whether JetStream takes records now: none waits for it longer than a second or two. */
  get isShipping(): boolean {
    return this.#shipper.heldUpMs < HELD_UP_MS;
  }

  /** Whether the writers have all that earlier starts left, and the last word of this start will end its producer. */
  get areLeftoversEnded(): boolean {
    return this.#areLeftoversEnded;
  }

  /** Segments on disk. */
  get segments(): number {
    return this.#segments.all.length;
  }

  get lanes(): LaneReading[] {
    return this.#shipper.lanes;
  }

  /** Size of the segments on disk. */
  get bytes(): number {
    return this.#segments.all.reduce((sum, { path }) => sum + sizeOf(path), 0);
  }

  /** Free bytes of the journal's disk, with the reserve. @throws when the file system does not answer. */
  get diskFreeBytes(): number {
    return roomOn(this.#options.folder.path, 0);
  }

  /** Bytes of its disk that the journal may still use. @throws when the file system does not answer. */
  get roomBytes(): number {
    const { folder, reserveBytes } = this.#options;
    return roomOn(folder.path, reserveBytes);
  }

  /**
   * Syncs everything, waits for `storedMs` until the writers have it, ships as much as it can within 5 s, and then publishes that
   * the producer number is free.
   */
  async close(): Promise<void> {
    try {
      await this.#journal.close();
      await this.#untilStored();
    } finally {
      this.#leftovers.abort();
      try {
        await this.#shipper.close(CLOSE_SHIPPER_MS);
      } finally {
        await this.#claim.close();
      }
    }
  }

  #openShipper(): Shipper {
    const { folder, link, lanes, log, events } = this.#options;
    const { producer, epoch, nonce } = folder;
    return new Shipper({
      link,
      lanes,
      run: { producer, epoch, nonce },
      segments: this.#segments,
      book: this.#book,
      log,
      events,
      nowMs: () => systemClock.nowMs(),
      onRefused: () =>
        this.#leave("the click writers have this producer and epoch from another process"),
    });
  }

  #openJournal(shipper: Shipper): Journal {
    const { folder, sync, reserveBytes, events } = this.#options;
    return Journal.open({
      folder: folder.path,
      epoch: folder.epoch,
      segments: this.#segments,
      sync,
      reserveBytes,
      onTaken: (record, frame) => {
        events.taken(record.lane);
        shipper.take(record, frame);
      },
      onDiskFault: (record, error) => {
        events.diskFailed(error);
        return recordDurably(shipper, record, () => events.unrecorded());
      },
      onSyncFault: (error) => events.syncFailed(error),
      times: events.journalTimes,
    });
  }

  /** Then no record of this process depends on its disk any more. */
  async #untilStored(): Promise<void> {
    const { storedMs, log } = this.#options;
    if (storedMs === 0) return;
    const startedAtMs = performance.now();
    const deadline = AbortSignal.timeout(storedMs);
    const isStored = await this.#shipper.untilStored(deadline);
    while (!this.#areLeftoversStored && !deadline.aborted) await pause(STORED_LOOK_MS, deadline);
    const tookMs = Math.round(performance.now() - startedAtMs);
    if (isStored && this.#areLeftoversStored) log.info({ tookMs }, "journal.stored");
    else log.warn({ tookMs, segments: this.segments }, "journal.not-stored-yet");
  }

  /** Ships what earlier starts left in this folder. */
  async #shipLeftovers(): Promise<void> {
    const { folder } = this.#options;
    const { signal } = this.#leftovers;
    const { producer, epoch, path } = folder;
    const mayDeclareLost = (): boolean => this.#claim.isConfirmed;
    const common = this.#shipment();
    const isDone = await untilLeftoversAreShipped({
      ...common,
      signal,
      folder: path,
      producer,
      epoch,
      mayDeclareLost,
      onLaneStored: (lane) => {
        if (this.#claim.isConfirmed) this.#shipper.leftoversAreStoredIn(lane);
        return this.#claim.isConfirmed;
      },
    });
    if (!isDone) return;
    this.#areLeftoversStored = true;
    while (!this.#claim.isConfirmed && !signal.aborted) await pause(CONFIRMATION_LOOK_MS, signal);
    if (!this.#claim.isConfirmed) return;
    this.#shipper.leftoversAreStored();
    this.#areLeftoversEnded = true;
  }

  /** Ships what dead processes left in their folders. */
  async #adopt(): Promise<void> {
    const { journalPath, folder, others, db, log } = this.#options;
    if (others === undefined) return;
    const claim = (taken: ProducerFolder): ProducerClaim => adoptedClaim(db, taken, log);
    const ownProducer = folder.producer;
    await adoptOrphans({ ...this.#shipment(), journalPath, ownProducer, others, claim });
  }

  #shipment(): Pick<
    AdoptionOptions,
    "link" | "lanes" | "book" | "signal" | "log" | "events" | "allocate"
  > {
    const { link, lanes, signal, log, events } = this.#options;
    return { link, lanes, book: this.#book, signal, log, events, allocate: this.#allocate };
  }

  /** Gives up the producer number, for whatever reason, as soon as the next start has one. */
  #leave(reason: string): void {
    const { folder, journalPath, db, log, signal, onNumberLeft } = this.#options;
    if (this.#isLeaving || signal.aborted) return;
    this.#isLeaving = true;
    this.#options.events.twinFound();
    const allocate = allocateFolderNumber(db);
    leaveNumber(folder, reason, { journalPath, allocate, log, signal })
      .then(onNumberLeft)
      .catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, "producer.number-not-left");
      });
  }
}

/** 0 for a segment that was removed meanwhile. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The claim on an adopted folder's number. Another folder may have the same number, so losing it is not reported. */
function adoptedClaim(db: Queryable, folder: ProducerFolder, log: Log): ProducerClaim {
  const { producer } = folder;
  const onLost = (reason: string): void => log.error({ producer, reason }, "producer.adopted-copy");
  const claim = new ProducerClaim({ db, folder, log, onLost });
  claim.start();
  return claim;
}

import type { LaneSource } from "../../schemas/events/lane-source.ts";
import { Backoff } from "../../schemas/host/backoff.ts";
import type { Log } from "../../schemas/host/log.ts";
import { pause } from "../../schemas/host/pause.ts";
import type { NatsLink } from "../../schemas/nats/nats-link.ts";
import { readRuns } from "./journal-run.ts";
import { LeftoverIdentities } from "./leftover-identities.ts";
import { LeftoverRanges } from "./leftover-ranges.ts";
import { MovedEpochs } from "./moved-epochs.ts";
import { messageToRepeat, publishEnded, publishUntilStored } from "./publish-batch.ts";
import { type Range, reshipRanges } from "./reship.ts";
import {
  type EndedSegment,
  endedSegmentPaths,
  indexSegment,
  removeSegment,
} from "./segment-files.ts";
import type { ShipperEvents } from "./shipper.ts";
import { hasKept, markStream, type StreamMark } from "./stream-mark.ts";
import type { WatermarkBook } from "./watermarks.ts";

const TICK_MS = 500;
/** Writers publish their watermarks every second. Wait for them, because what they have need not be shipped. */
const FIRST_WATERMARK_MS = 2_500;
/** Time between two checks whether JetStream still has what was shipped. */
const STREAM_LOOK_MS = 10_000;
const AFTER_FAULT = { firstMs: 1_000, longestMs: 60_000 } as const;

export type LeftoversOptions = {
  readonly folder: string;
  readonly producer: number;
  /** Epochs before this one have ended. */
  readonly epoch: number;
  readonly link: NatsLink;
  readonly lanes: LaneSource;
  readonly book: WatermarkBook;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly events: ShipperEvents;
  /** False while a copy of the folder may still ship what this folder lacks. */
  readonly mayDeclareLost: () => boolean;
  /**
   * Called for each lane when every record that the folder has for it is stored, until it returns true. The end of the earlier epochs must be
   * told lane by lane: a lane that was added opens only when the lane that had its offers knows of this end, and the records for the new lane
   * are stored after that.
   */
  readonly onLaneStored: (lane: number) => Promise<boolean> | boolean;
  /** A producer number for records whose own number belongs to another process. */
  readonly allocate: (claim: string) => Promise<number>;
};

/** Repeats {@link shipLeftovers} until the disk answers. Rejects only when `signal` ends a wait. */
export async function untilLeftoversAreShipped(options: LeftoversOptions): Promise<boolean> {
  const { log, signal } = options;
  const report = { log, event: "journal.leftovers-failed" };
  const backoff = new Backoff({ ...AFTER_FAULT, signal, report });
  return await backoff.repeat(() => shipLeftovers(options));
}

/**
 * Ships what ended epochs of a producer left in its folder, and removes each segment when the writers have all of it. Returns
 * whether nothing is left: the signal may end the work earlier. Damaged frames are reported and never stop it (P7).
 * @throws when the disk fails: for a segment that cannot be read, once the writers have the other segments. Until then no record is
 * declared lost.
 */
export async function shipLeftovers(options: LeftoversOptions): Promise<boolean> {
  const { log, events, signal } = options;
  const { segments, unreadable } = await indexSegments(options);
  if (segments.length === 0 && unreadable.length === 0) return true;
  log.info({ producer: options.producer, segments: segments.length }, "journal.leftovers-found");
  const shipment = new Leftovers(options, segments, unreadable.length > 0);
  await shipment.untilReported();
  while (shipment.isLeft && !signal.aborted) {
    const lost = await shipment.step();
    if (lost > 0) events.lost(lost);
    if (shipment.isLeft) await pause(TICK_MS, signal);
  }
  if (shipment.isLeft) return false;
  if (unreadable.length > 0) throw new Error(`unreadable segments: ${unreadable.join(", ")}`);
  await shipment.endMoved();
  log.info({ producer: options.producer }, "journal.leftovers-shipped");
  return true;
}

async function indexSegments({ folder, epoch, log }: LeftoversOptions): Promise<{
  segments: EndedSegment[];
  unreadable: string[];
}> {
  const segments: EndedSegment[] = [];
  const unreadable: string[] = [];
  for (const { path, epoch: segmentEpoch } of await endedSegmentPaths(folder, epoch)) {
    try {
      const segment = await indexSegment(path, segmentEpoch);
      if (segment.damagedBytes > 0) {
        log.error({ path, bytes: segment.damagedBytes }, "journal.damaged");
      }
      segments.push(segment);
    } catch (error) {
      log.error({ err: error, path }, "journal.segment-unreadable");
      unreadable.push(path);
    }
  }
  return { segments, unreadable };
}

/**
 * The segments of one folder, until the writers have them. Each range is shipped once, and again only when the writer lists it as
 * missing or JetStream lost it. So the stream does not grow while ClickHouse is down.
 */
class Leftovers {
  readonly #options: LeftoversOptions;
  readonly #identities: LeftoverIdentities;
  readonly #ranges: LeftoverRanges;
  /** Other segments cannot be read: what the writers miss may be in them. */
  readonly #isPartial: boolean;
  #left: readonly EndedSegment[];
  /** The messages that were shipped, by lane, with their numbers in the stream. */
  readonly #shipped = new Map<number, StreamMark>();
  /** Lanes for which `onLaneStored` has returned true. */
  readonly #storedLanes = new Set<number>();
  #lookedAtMs = performance.now();

  constructor(options: LeftoversOptions, segments: readonly EndedSegment[], isPartial: boolean) {
    this.#options = options;
    this.#isPartial = isPartial;
    this.#left = segments;
    const { folder, producer, book, log } = options;
    this.#identities = new LeftoverIdentities({
      producer,
      book,
      log,
      runs: readRuns(folder),
      moved: new MovedEpochs(folder),
    });
    this.#ranges = new LeftoverRanges(book, this.#identities);
  }

  get isLeft(): boolean {
    return this.#left.length > 0;
  }

  /** Gives writers the time to publish their watermarks. */
  async untilReported(): Promise<void> {
    const { link, signal } = this.#options;
    let waitedMs = 0;
    while (
      !signal.aborted &&
      !this.#ranges.haveWatermarks(this.#left) &&
      waitedMs < FIRST_WATERMARK_MS
    ) {
      await pause(TICK_MS, signal);
      // Without a connection no watermark can arrive: the wait begins when there is one.
      if (link.current() !== undefined) waitedMs += TICK_MS;
    }
  }

  /** Ships what is due and removes what the writers have. Returns how many records were declared lost. */
  async step(): Promise<number> {
    const { allocate, signal } = this.#options;
    await this.#identities.moveRefused(this.#left, allocate);
    await this.#lookAtStream();
    const due = this.#ranges.due(this.#left, performance.now());
    let lost = 0;
    try {
      if (due.length > 0) lost = await this.#ship(due);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    const left: EndedSegment[] = [];
    for (const segment of this.#left) {
      if (this.#ranges.isStored(segment)) await removeSegment(segment.path);
      else if (!this.#isPartial || !this.#ranges.isPassed(segment)) left.push(segment);
    }
    this.#left = left;
    await this.#reportLanes();
    return lost;
  }

  async #reportLanes(): Promise<void> {
    const { lanes, onLaneStored } = this.#options;
    // A segment that cannot be read may have records for any lane.
    if (this.#isPartial) return;
    for (const lane of lanes.present().all) {
      if (this.#storedLanes.has(lane) || !this.#ranges.isLaneStored(this.#left, lane)) continue;
      if (await onLaneStored(lane)) this.#storedLanes.add(lane);
    }
  }

  /** Publishes that nothing more comes under the numbers that were made for refused epochs. */
  async endMoved(): Promise<void> {
    const { link, lanes, signal, events } = this.#options;
    const onRetry = (error: unknown): void => events.retried(error);
    for (const run of this.#identities.movedRuns) {
      await publishEnded(link, run, { lanes: lanes.present().all, signal, onRetry });
    }
  }

  async #ship(ranges: readonly Range[]): Promise<number> {
    const { link, signal, events } = this.#options;
    const onRetry = (error: unknown): void => events.retried(error);
    const sequences = new Map<number, number[]>();
    const note = (lane: number, sequence: number): void => {
      sequences.set(lane, [...(sequences.get(lane) ?? []), sequence]);
    };
    let newestMs = 0;
    const lost = await reshipRanges({
      identityOf: (range) => this.#identities.of(range),
      mayDeclareLost: () => !this.#isPartial && this.#options.mayDeclareLost(),
      ranges,
      segments: this.#left,
      publish: async (batch) => {
        newestMs = Math.max(newestMs, batch.at);
        const message = messageToRepeat(batch);
        note(batch.lane, await publishUntilStored(link, message, { signal, onRetry }));
      },
    });
    // Then publish the end of the epoch: a writer that lacks a record before it lists that record as missing.
    for (const { epoch, lane, next } of this.#ranges.endsOf(ranges)) {
      const head = { ...this.#identities.headOf({ epoch, lane }), epoch, lane, first: next };
      const message = messageToRepeat({ ...head, at: newestMs, lines: [] });
      note(lane, await publishUntilStored(link, message, { signal, onRetry }));
    }
    for (const [lane, of] of sequences) await this.#mark(lane, of);
    return lost;
  }

  async #mark(lane: number, sequences: readonly number[]): Promise<void> {
    const known = this.#shipped.get(lane);
    const first = sequences.reduce((least, seq) => Math.min(least, seq));
    const last = sequences.reduce((most, seq) => Math.max(most, seq));
    // Unknown while JetStream cannot be asked: then only the writers report what is missing.
    const mark = await markStream(this.#options.link, lane, {
      first: Math.min(first, known?.first ?? first),
      last: Math.max(last, known?.last ?? last),
    });
    if (mark === undefined) this.#shipped.delete(lane);
    else this.#shipped.set(lane, mark);
  }

  async #lookAtStream(): Promise<void> {
    const nowMs = performance.now();
    if (this.#shipped.size === 0 || nowMs - this.#lookedAtMs < STREAM_LOOK_MS) return;
    this.#lookedAtMs = nowMs;
    const { link } = this.#options;
    const kept = [...this.#shipped].map(async ([lane, mark]) => await hasKept(link, lane, mark));
    if ((await Promise.all(kept)).every(Boolean)) return;
    this.#options.log.warn(
      { producer: this.#options.producer },
      "journal.leftovers-gone-from-stream",
    );
    this.#shipped.clear();
    this.#ranges.forgetShipped();
  }
}

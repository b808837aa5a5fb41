import { CLASSES } from "./offer-classes.ts";
import { StagedVisits } from "./staged-visits.ts";
import { Tally } from "./tally.ts";
import { VisitBlocks } from "./visit-blocks.ts";
import { type Visit, VisitPrint } from "./visit-print.ts";
import { NO_ENTRY, type SegmentShare, VisitSegment } from "./visit-segment.ts";

/** Memory for a visit, in a table of more than a million: at most 11.9 bytes (`npm run bench -- uniques`). */
export const VISIT_BYTES = 12;
const SEGMENT_BITS = 10;
const SEGMENTS = 1 << SEGMENT_BITS;
/** With 48 to 96 entries a bucket is scanned in 12 to 24 blocks. */
const BUCKET_ENTRIES_MAX = 96;
/** Words for a visit when its times are wide: 12 bytes, and 15 % for spare blocks and blocks that are not full. */
const WORDS_PER_VISIT = 3.45;
/** Visits above `entriesMax` while room is made. */
const MORE_SHARE = 0.05;
/** Words of a segment with few visits. */
const SEGMENT_WORDS_MIN = 600;
/** The time of a visit without an entry. */
const NEVER_MS = Number.NEGATIVE_INFINITY;

/** Work in steps of one segment each. Between two steps visits may be added. */
export type Steps = Generator<number, void, void>;

export type VisitTableOptions = {
  /** The most visits that the caller will keep; a twentieth more while it makes room. */
  readonly entriesMax: number;
  /** Visits before this time (UTC ms) may be dropped when room is needed. */
  readonly dropBeforeMs: () => number;
  readonly bucketEntriesMax?: number | undefined;
};

/**
 * The times of visits, in 1,024 segments by the first bits of their prints. Their memory is reserved as one range of addresses, and the
 * system provides a page when it is first written. So nothing is copied when the table grows, and nothing waits for garbage collection.
 */
export class VisitTable {
  readonly tally = new Tally(CLASSES);
  readonly #share: SegmentShare;
  readonly #entriesMax: number;
  readonly #segmentWords: number;
  readonly #segments: (VisitSegment | undefined)[] = Array.from({ length: SEGMENTS });
  #words: Int32Array | undefined;
  /** While the table is loading. */
  #staged: StagedVisits | undefined;
  /** How many visits of a segment will be loaded. */
  #expected = 0;
  readonly #print = new VisitPrint();
  #segment: VisitSegment | undefined;
  #entry = NO_ENTRY;

  constructor(options: VisitTableOptions) {
    const { entriesMax, dropBeforeMs, bucketEntriesMax = BUCKET_ENTRIES_MAX } = options;
    const share = { segmentBits: SEGMENT_BITS, bucketEntriesMax, dropBeforeMs };
    this.#share = { ...share, tally: this.tally, scratch: new VisitBlocks(new Int32Array()) };
    this.#entriesMax = entriesMax;
    const mean = (entriesMax * (1 + MORE_SHARE)) / SEGMENTS;
    // Few segments have so many more visits; each of them gets memory of its own.
    const most = mean + 8 * Math.sqrt(mean);
    this.#segmentWords = Math.ceil(most * WORDS_PER_VISIT) + SEGMENT_WORDS_MIN;
  }

  get bytes(): number {
    return this.#all().reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** The earliest time, UTC ms; undefined if there is none. */
  get oldestMs(): number | undefined {
    for (;;) {
      let oldest: VisitSegment | undefined;
      for (const segment of this.#all())
        if (segment.oldestMs < (oldest?.oldestMs ?? Number.POSITIVE_INFINITY)) oldest = segment;
      if (oldest?.findOldest() !== true) return oldest?.oldestMs;
    }
  }

  /** The time of a visit; NEVER_MS without one. `put` then writes this visit. */
  seek(visit: Visit): number {
    this.#print.set(visit.offerId, visit.affiliateId, visit.visitor);
    const segment = this.#segmentOf(this.#print);
    this.#segment = segment;
    this.#entry = segment.find(this.#print);
    return this.#entry === NO_ENTRY ? NEVER_MS : segment.timeAt(this.#entry);
  }

  /** Writes the time of the visit that was sought last. */
  put(offerClass: number, atMs: number): void {
    const segment = this.#segment ?? this.#segmentOf(this.#print);
    if (segment.cover(atMs)) this.#entry = segment.find(this.#print);
    if (this.#entry === NO_ENTRY) segment.add(this.#print, offerClass, atMs);
    else segment.setTime(this.#entry, atMs);
    this.#segment = undefined;
  }

  /** From now until `settle`, visits are added by `load` alone: about `expected`. The table must be empty. */
  beginLoading(expected: number): void {
    this.#expected = Math.min(expected, this.#entriesMax) / SEGMENTS;
    this.#staged = new StagedVisits(SEGMENTS, (number) => this.#segmentAt(number));
  }

  get isLoading(): boolean {
    return this.#staged !== undefined;
  }

  /** Adds a visit, also if it has an entry. */
  load(visit: Visit, offerClass: number, atMs: number): void {
    const print = this.#print;
    print.set(visit.offerId, visit.affiliateId, visit.visitor);
    this.#staged?.add(print.high >>> (32 - SEGMENT_BITS), print, offerClass, atMs);
  }

  /** Ends loading: of several entries of a visit the latest time stays. Every step takes some milliseconds. */
  *settle(): Generator<void, void, void> {
    for (let number = 0; number < SEGMENTS; number += 1) {
      this.#staged?.flush(number);
      this.#segments[number]?.settle();
      yield;
    }
    this.#staged = undefined;
  }

  /** Drops the visits before this time. Each step yields how many visits it has looked at. */
  *dropBefore(limitMs: number): Steps {
    yield* this.#eachSegment((segment) => segment.dropBefore(limitMs));
  }

  /** Calls `isRemoved` once for each visit, in no order, and drops the visit if the answer is true. The steps yield as in `dropBefore`. */
  *removeWhere(isRemoved: (offerClass: number, atMs: number) => boolean): Steps {
    yield* this.#eachSegment((segment) => segment.removeWhere(isRemoved));
  }

  /** The steps yield as in `dropBefore`. */
  *forEach(visit: (offerClass: number, atMs: number) => void): Steps {
    yield* this.#eachSegment((segment) => segment.forEach(visit));
  }

  *#eachSegment(work: (segment: VisitSegment) => void): Steps {
    for (let number = 0; number < SEGMENTS; number += 1) {
      const segment = this.#segments[number];
      if (segment === undefined) continue;
      const { size } = segment;
      work(segment);
      yield size;
    }
  }

  #all(): VisitSegment[] {
    return this.#segments.filter((segment) => segment !== undefined);
  }

  #segmentOf(print: VisitPrint): VisitSegment {
    return this.#segmentAt(print.high >>> (32 - SEGMENT_BITS));
  }

  #segmentAt(number: number): VisitSegment {
    return this.#segments[number] ?? this.#addSegment(number);
  }

  #addSegment(number: number): VisitSegment {
    const size = this.#segmentWords;
    this.#words ??= new Int32Array(SEGMENTS * size);
    const words = this.#words.subarray(number * size, (number + 1) * size);
    const segment = new VisitSegment(
      words,
      this.#share,
      this.isLoading ? this.#expected : undefined,
    );
    this.#segments[number] = segment;
    return segment;
  }
}

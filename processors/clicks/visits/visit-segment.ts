import assert from "node:assert";
import {
  blocksOf,
  countOf,
  ENTRIES_MAX,
  forEachEntry,
  headOf,
  ONE_BLOCK,
  startOf,
} from "./bucket-heads.ts";
import type { Tally } from "./tally.ts";
import { BLOCK_ENTRIES, classOf, restOf, type Span, tailOf, VisitBlocks } from "./visit-blocks.ts";
import type { VisitPrint } from "./visit-print.ts";

/** Bits of a print that the place of an entry implies: its segment, and its bucket there. */
const IMPLIED_BITS = 16;
/** Spare blocks after a spread, as a share of the filled ones. */
const SPARE_SHARE = 0.04;
/** At least one spare block in so many buckets. */
const SPARE_BUCKETS = 4;
/** How many of the next buckets may lend a spare block. */
const REACH = 24;
const BUCKET_BITS_MAX = 20;
export const NO_ENTRY = -1;

type IsRemoved = (offerClass: number, atMs: number) => boolean;

/** What the segments of a table share. */
export type SegmentShare = {
  /** Bits of a print that select the segment, at most 16. */
  readonly segmentBits: number;
  /** Average number of entries at which the number of buckets doubles. */
  readonly bucketEntriesMax: number;
  /** Visits of all segments, and of each class of offers. */
  readonly tally: Tally;
  /** A copy of one segment while it is rebuilt. */
  readonly scratch: VisitBlocks;
  /** Entries before this time (UTC ms) may be dropped. */
  readonly dropBeforeMs: () => number;
};

/**
 * The visits whose prints begin with the same bits. The next bits of a print select a bucket, which is scanned. Buckets lie one after the
 * other, in the order of their numbers, each in whole blocks. Some have spare blocks at their end. A full bucket takes the spare block of
 * one of the next buckets by moving everything between by one block. If no spare block is near, expired entries are dropped and spare
 * blocks are spread evenly again, or the number of buckets doubles. So no pause is longer than the work for one segment.
 *
 * While it is loading, `load` adds entries without looking for an earlier one of the same visit. `settle` ends that.
 */
export class VisitSegment {
  readonly #share: SegmentShare;
  readonly #blocks: VisitBlocks;
  #bucketBits: number;
  #buckets: number;
  /** A head for each bucket, and one for the end of the last bucket. */
  #heads: Uint32Array;
  #size = 0;
  #isLoading: boolean;
  #blocksMost = 0;
  /** No entry is earlier; one has this time if `#isOldestKnown`. */
  #oldestMs = Number.POSITIVE_INFINITY;
  #isOldestKnown = true;

  /** `expected` is how many entries will be loaded, for a segment that begins with loading. */
  constructor(words: Int32Array, share: SegmentShare, expected?: number) {
    this.#share = share;
    this.#blocks = new VisitBlocks(words);
    this.#bucketBits = IMPLIED_BITS - share.segmentBits;
    this.#buckets = 1 << this.#bucketBits;
    this.#isLoading = expected !== undefined;
    const blocks = ((expected ?? 0) / BLOCK_ENTRIES / this.#buckets) * (1 + SPARE_SHARE);
    this.#heads = Uint32Array.from({ length: this.#buckets + 1 }, (_, bucket) =>
      headOf(Math.floor(blocks * bucket), 0),
    );
    this.#reserve(Math.floor(blocks * this.#buckets));
  }

  get size(): number {
    return this.#size;
  }

  /** Memory that was written at least once, and the heads. */
  get bytes(): number {
    return this.#blocksMost * this.#blocks.blockWords * 4 + this.#heads.byteLength;
  }

  /** No entry is earlier, UTC ms. */
  get oldestMs(): number {
    return this.#oldestMs;
  }

  /** Makes `oldestMs` the time of an entry. False if it was. */
  findOldest(): boolean {
    if (this.#isOldestKnown) return false;
    this.#oldestMs = Number.POSITIVE_INFINITY;
    this.forEach((_offerClass, atMs) => {
      this.#oldestMs = Math.min(this.#oldestMs, atMs);
    });
    this.#isOldestKnown = true;
    return true;
  }

  /** The entry of a print, or NO_ENTRY. The number is valid until the next `cover`, `add` or `removeWhere`. */
  find(print: VisitPrint): number {
    return this.#findIn(this.#bucketOf(print), print.key, print.rest);
  }

  #findIn(bucket: number, key: number, rest: number): number {
    const head = this.#heads[bucket] ?? 0;
    const { words, blockWords } = this.#blocks;
    let entry = startOf(head) * BLOCK_ENTRIES;
    const end = entry + countOf(head);
    for (let at = startOf(head) * blockWords; entry < end; at += blockWords) {
      // The last block may have old keys behind its entries.
      if (words[at] === key && this.#is(entry, end, rest)) return entry;
      if (words[at + 1] === key && this.#is(entry + 1, end, rest)) return entry + 1;
      if (words[at + 2] === key && this.#is(entry + 2, end, rest)) return entry + 2;
      if (words[at + 3] === key && this.#is(entry + 3, end, rest)) return entry + 3;
      entry += BLOCK_ENTRIES;
    }
    return NO_ENTRY;
  }

  timeAt(entry: number): number {
    return this.#blocks.timeAt(entry);
  }

  /** `cover` must have been called for this time. */
  setTime(entry: number, atMs: number): void {
    if (this.#isOldestKnown && this.timeAt(entry) === this.#oldestMs) this.#isOldestKnown = false;
    this.#blocks.setTime(entry, atMs);
    this.#noteTime(atMs);
  }

  /** Makes sure that this time can be stored. True if entries have other numbers now. */
  cover(atMs: number): boolean {
    if (this.#blocks.covers(atMs)) return false;
    if (this.#size === 0) this.#blocks.layOut({ fromMs: atMs, toMs: atMs });
    else this.#rebuild(this.#bucketBits, atMs);
    return true;
  }

  /** Adds the entry of a print that has none. `cover` must have been called for this time. */
  add(print: VisitPrint, offerClass: number, atMs: number): void {
    let bucket = this.#bucketOf(print);
    while (!this.#hasRoom(bucket)) {
      this.#makeRoom(bucket, atMs);
      bucket = this.#bucketOf(print);
    }
    const head = this.#heads[bucket] ?? 0;
    const entry = startOf(head) * BLOCK_ENTRIES + countOf(head);
    this.#blocks.write(entry, print.key, tailOf(print.rest, offerClass));
    this.#blocks.setTime(entry, atMs);
    this.#heads[bucket] = head + 1;
    this.#size += 1;
    this.#share.tally.add(offerClass, 1);
    this.#noteTime(atMs);
  }

  /** Adds an entry while the segment is loading. It need not be new. */
  load(print: VisitPrint, offerClass: number, atMs: number): void {
    // One visit may have been unique thousands of times, each time in another window.
    if (countOf(this.#heads[this.#bucketOf(print)] ?? 0) === ENTRIES_MAX) this.settle();
    this.cover(atMs);
    const known = this.#isLoading ? NO_ENTRY : this.find(print);
    if (known === NO_ENTRY) this.add(print, offerClass, atMs);
    else if (atMs > this.timeAt(known)) this.setTime(known, atMs);
  }

  /** Drops repeated entries; the latest time stays. */
  settle(): void {
    if (!this.#isLoading) return;
    this.#isLoading = false;
    this.#rebuild(this.#neededBits(), undefined, true);
  }

  /** Drops entries before this time. */
  dropBefore(limitMs: number): void {
    if (this.#oldestMs < limitMs) this.#remove(limitMs);
  }

  /** Drops the entries for which this is true. It is called once for each entry, in no order. */
  removeWhere(isRemoved: IsRemoved): void {
    this.#remove(Number.NEGATIVE_INFINITY, isRemoved);
  }

  #remove(limitMs: number, isRemoved?: IsRemoved): void {
    const blocks = this.#blocks;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      const head = this.#heads[bucket] ?? 0;
      const first = startOf(head) * BLOCK_ENTRIES;
      let end = first + countOf(head);
      for (let entry = first; entry < end; ) {
        const atMs = blocks.timeAt(entry);
        if (atMs < limitMs || isRemoved?.(classOf(blocks.tailAt(entry)), atMs) === true) {
          this.#share.tally.add(classOf(blocks.tailAt(entry)), -1);
          end -= 1;
          // The last entry takes its place.
          if (entry < end) blocks.moveEntry(end, entry);
        } else {
          if (atMs < oldestMs) oldestMs = atMs;
          entry += 1;
        }
      }
      const removed = first + countOf(head) - end;
      this.#size -= removed;
      this.#heads[bucket] = head - removed;
    }
    this.#oldestMs = oldestMs;
    this.#isOldestKnown = true;
  }

  forEach(visit: (offerClass: number, atMs: number) => void): void {
    const blocks = this.#blocks;
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      const head = this.#heads[bucket] ?? 0;
      const first = startOf(head) * BLOCK_ENTRIES;
      const end = first + countOf(head);
      for (let entry = first; entry < end; entry += 1)
        visit(classOf(blocks.tailAt(entry)), blocks.timeAt(entry));
    }
  }

  #noteTime(atMs: number): void {
    if (atMs > this.#oldestMs) return;
    this.#oldestMs = atMs;
    this.#isOldestKnown = true;
  }

  #is(entry: number, end: number, rest: number): boolean {
    return entry < end && restOf(this.#blocks.tailAt(entry)) === rest;
  }

  #bucketOf(print: VisitPrint): number {
    return (print.high << this.#share.segmentBits) >>> (32 - this.#bucketBits);
  }

  #hasRoom(bucket: number): boolean {
    const head = this.#heads[bucket] ?? 0;
    const count = countOf(head);
    return count % BLOCK_ENTRIES === 0 ? this.#hasSpare(bucket) : count < ENTRIES_MAX;
  }

  #hasSpare(bucket: number): boolean {
    const head = this.#heads[bucket] ?? 0;
    return startOf(this.#heads[bucket + 1] ?? 0) > startOf(head) + blocksOf(head);
  }

  /** For an entry at `atMs`. Buckets may have other numbers then. */
  #makeRoom(bucket: number, atMs: number): void {
    const isFull = countOf(this.#heads[bucket] ?? 0) === ENTRIES_MAX;
    if (!isFull && this.#borrow(bucket)) return;
    this.dropBefore(this.#share.dropBeforeMs());
    const bits = isFull ? this.#bucketBits + 1 : this.#isLoading ? 0 : this.#neededBits();
    if (bits > this.#bucketBits) this.#rebuild(bits, atMs);
    else this.#spread(bucket);
  }

  /** Takes a spare block of one of the next buckets. */
  #borrow(bucket: number): boolean {
    const heads = this.#heads;
    const last = Math.min(this.#buckets, bucket + REACH);
    let lender = bucket + 1;
    while (lender < last && !this.#hasSpare(lender)) lender += 1;
    if (lender >= last) return false;
    const from = startOf(heads[bucket + 1] ?? 0);
    const to = startOf(heads[lender] ?? 0) + blocksOf(heads[lender] ?? 0);
    this.#blocks.moveBlocks(from, from + 1, to - from);
    for (let moved = bucket + 1; moved <= lender; moved += 1)
      heads[moved] = (heads[moved] ?? 0) + ONE_BLOCK;
    return true;
  }

  /** Spreads spare blocks evenly over the buckets, and gives `needy` one. */
  #spread(needy: number): void {
    const heads = this.#heads;
    let filled = 0;
    for (let bucket = 0; bucket < this.#buckets; bucket += 1)
      filled += blocksOf(heads[bucket] ?? 0);
    const spare = this.#spareOf(filled);
    const startIn = (bucket: number, before: number): number =>
      before + Math.floor(spare * bucket) + (bucket > needy ? 1 : 0);
    const end = startIn(this.#buckets, filled);
    this.#reserve(end);
    // Buckets that move down make room for those that move up.
    let before = 0;
    for (let bucket = 0; bucket < this.#buckets; bucket += 1) {
      const to = startIn(bucket, before);
      if (to < startOf(heads[bucket] ?? 0)) this.#moveBucket(bucket, to);
      before += blocksOf(heads[bucket] ?? 0);
    }
    heads[this.#buckets] = headOf(end, 0);
    for (let bucket = this.#buckets - 1; bucket >= 0; bucket -= 1) {
      before -= blocksOf(heads[bucket] ?? 0);
      const to = startIn(bucket, before);
      if (to > startOf(heads[bucket] ?? 0)) this.#moveBucket(bucket, to);
    }
  }

  #moveBucket(bucket: number, to: number): void {
    const head = this.#heads[bucket] ?? 0;
    this.#blocks.moveBlocks(startOf(head), to, blocksOf(head));
    this.#heads[bucket] = headOf(to, countOf(head));
  }

  /** Spare blocks of a bucket. */
  #spareOf(filled: number): number {
    return Math.max((filled * SPARE_SHARE) / this.#buckets, 1 / SPARE_BUCKETS);
  }

  #reserve(blocks: number): void {
    this.#blocks.reserve(blocks);
    if (blocks > this.#blocksMost) this.#blocksMost = blocks;
  }

  #neededBits(): number {
    let bits = this.#bucketBits;
    while (this.#size > 2 ** bits * this.#share.bucketEntriesMax) bits += 1;
    return bits;
  }

  /** Writes all entries anew: with another number of buckets, for times that include `atMs`, or without repeated entries. */
  #rebuild(bits: number, atMs?: number, hasRepeats = false): void {
    assert(bits <= BUCKET_BITS_MAX, "too many visits have the same print");
    this.dropBefore(this.#share.dropBeforeMs());
    const { scratch } = this.#share;
    const old = { heads: this.#heads, bits: this.#bucketBits };
    scratch.copy(this.#blocks, startOf(old.heads.at(-1) ?? 0));
    const span = this.#span(atMs);
    if (span !== undefined) this.#blocks.layOut(span);
    this.#bucketBits = bits;
    this.#buckets = 1 << bits;
    const counts = new Uint32Array(this.#buckets + 1);
    forEachEntry(old.heads, (entry, bucket) => {
      const to = this.#movedBucket(scratch.keyAt(entry), bucket, old.bits);
      counts[to] = (counts[to] ?? 0) + 1;
    });
    this.#heads = this.#headsFor(counts);
    forEachEntry(old.heads, (entry, bucket) => {
      const to = this.#movedBucket(scratch.keyAt(entry), bucket, old.bits);
      if (!hasRepeats || !this.#merge(entry, to)) this.#copyEntry(entry, to);
    });
  }

  /** Makes the heads of empty buckets that have room for so many entries. */
  #headsFor(counts: Uint32Array): Uint32Array {
    const spare = this.#spareOf(counts.reduce((sum, count) => sum + blocksOf(count), 0));
    const heads = new Uint32Array(this.#buckets + 1);
    let before = 0;
    for (let bucket = 0; bucket <= this.#buckets; bucket += 1) {
      heads[bucket] = headOf(before + Math.floor(spare * bucket), 0);
      before += blocksOf(counts[bucket] ?? 0);
    }
    this.#reserve(startOf(heads[this.#buckets] ?? 0));
    return heads;
  }

  /** The times of all entries and `atMs`; undefined if there are none. */
  #span(atMs?: number): Span | undefined {
    let [fromMs, toMs] = [atMs ?? Number.POSITIVE_INFINITY, atMs ?? Number.NEGATIVE_INFINITY];
    this.forEach((_offerClass, entryMs) => {
      fromMs = Math.min(fromMs, entryMs);
      toMs = Math.max(toMs, entryMs);
    });
    return fromMs <= toMs ? { fromMs, toMs } : undefined;
  }

  /** The bucket of an entry that was in `bucket` when there were fewer buckets. */
  #movedBucket(key: number, bucket: number, oldBits: number): number {
    const implied = IMPLIED_BITS - this.#share.segmentBits;
    const more = this.#bucketBits - implied;
    const place = bucket >>> (oldBits - implied);
    return more === 0 ? place : (place << more) | (key >>> (32 - more));
  }

  /** Copies an entry of the scratch to the end of a bucket. */
  #copyEntry(entry: number, bucket: number): void {
    const { scratch } = this.#share;
    const head = this.#heads[bucket] ?? 0;
    const to = startOf(head) * BLOCK_ENTRIES + countOf(head);
    this.#blocks.write(to, scratch.keyAt(entry), scratch.tailAt(entry));
    this.#blocks.setTime(to, scratch.timeAt(entry));
    this.#heads[bucket] = head + 1;
  }

  /** Merges an entry of the scratch into an entry of the same print. False if there is no such entry. */
  #merge(entry: number, bucket: number): boolean {
    const { scratch, tally } = this.#share;
    const tail = scratch.tailAt(entry);
    const known = this.#findIn(bucket, scratch.keyAt(entry), restOf(tail));
    if (known === NO_ENTRY) return false;
    const atMs = scratch.timeAt(entry);
    if (atMs > this.#blocks.timeAt(known)) this.#blocks.setTime(known, atMs);
    tally.add(classOf(tail), -1);
    this.#size -= 1;
    this.#isOldestKnown = false;
    return true;
  }
}

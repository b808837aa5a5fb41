import { clickIdParts } from "../../../schemas/ids/click-id.ts";
import type { ErasedClicks } from "../erasure/erased-clicks.ts";
import { padded } from "../erasure/erased-line.ts";
import {
  type AdClick,
  type AdClickSearch,
  AdClicks,
  adClickKey,
  adClickKeys,
  rowOf,
} from "../rows/ad-clicks.ts";
import type { Segment } from "../rows/batch.ts";
import { readLine } from "../rows/read-line.ts";

export type YoungLimits = {
  /** Limit for clicks that are also in ClickHouse. The other two limits may remove them earlier. */
  readonly ageMs: number;
  readonly bytesMax: number;
  readonly segmentsMax: number;
};

const BUCKET_MS = 1_000;
/** A segment over a longer time, from an ingress with little traffic or a clock that stood still, is searched for every query. */
const SPAN_MS_MAX = 10_000;
/** Free slots at the head of the list before it is cut. */
const FREE_SLOTS_MAX = 4_096;
const LINE_FEED = 10;

/** Start and end of a row; the end is its line feed. */
type RowSpan = { readonly start: number; readonly end: number };

/**
 * The clicks that were read recently, in the order of the stream, as the bytes that go to ClickHouse. A click id contains its time, so
 * few segments must be searched for it; an index has the latest click of each ad ID. Clicks stay here until ClickHouse has them. The
 * caller bounds how many that can be.
 */
export class YoungClicks {
  readonly #limits: YoungLimits;
  readonly #bySecond = new Map<number, Set<Segment>>();
  readonly #wide = new Set<Segment>();
  readonly #adClicks = new AdClicks();
  #queue: (Segment | undefined)[] = [];
  #head = 0;
  #bytes = 0;
  #clicks = 0;

  constructor(limits: YoungLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#clicks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(segment: Segment): void {
    this.#queue.push(segment);
    this.#bytes += segment.bytes.length;
    this.#clicks += segment.to - segment.from;
    for (const second of secondsOf(segment)) {
      const known = this.#bySecond.get(second);
      if (known === undefined) this.#bySecond.set(second, new Set([segment]));
      else known.add(segment);
    }
    if (isWide(segment)) this.#wide.add(segment);
    for (const click of segment.adClicks) this.#adClicks.add(click);
  }

  /** The row of a click as JSON. */
  byId(clickId: string): string | undefined {
    for (const { segment, start, end } of this.#find(clickId))
      return segment.bytes.toString("utf8", start, end);
    return undefined;
  }

  /** Clears erased clicks. May be called only while nothing is being inserted, because rows change in place. */
  eraseClicks(clickIds: readonly string[], erased: ErasedClicks): void {
    const gone = new Set<string>();
    for (const clickId of clickIds) {
      for (const { segment, ...span } of this.#find(clickId))
        this.#eraseRow(segment, span, { erased, gone });
    }
    this.#reindexOlder(gone);
  }

  /** Clears erased data in all rows of these segments. May be called only while nothing is being inserted. */
  eraseIn(segments: readonly Segment[], erased: ErasedClicks): void {
    const gone = new Set<string>();
    for (const segment of segments) {
      for (let start = 0; start < segment.bytes.length; ) {
        const end = segment.bytes.indexOf(LINE_FEED, start);
        this.#eraseRow(segment, { start, end }, { erased, gone });
        start = end + 1;
      }
    }
    this.#reindexOlder(gone);
  }

  /** Oldest first. */
  *segments(): Generator<Segment> {
    for (let at = this.#head; at < this.#queue.length; at += 1) {
      const segment = this.#queue[at];
      if (segment !== undefined) yield segment;
    }
  }

  *#find(clickId: string): Generator<RowSpan & { readonly segment: Segment }> {
    const { atMs } = clickIdParts(clickId);
    const field = `"click_id":"${clickId}"`;
    const candidates = [this.#bySecond.get(Math.floor(atMs / BUCKET_MS)) ?? [], this.#wide];
    for (const segments of candidates) {
      for (const segment of segments) {
        if (segment.fromMs > atMs || segment.toMs < atMs) continue;
        const at = segment.bytes.indexOf(field);
        if (at >= 0) yield { segment, ...lineAt(segment.bytes, at) };
      }
    }
  }

  /** The row keeps its length, so the other rows do not move. Adds to `gone` the keys by which the row is no longer found. */
  #eraseRow(
    segment: Segment,
    { start, end }: RowSpan,
    { erased, gone }: { readonly erased: ErasedClicks; readonly gone: Set<string> },
  ): void {
    const { bytes } = segment;
    const line = bytes.toString("latin1", start, end);
    const clean = erased.clean(line, readLine(line)?.ts ?? 0);
    if (clean === line) return;
    bytes.write(padded(clean, line.length), start, "latin1");
    const kept = new Set(adClickKeys(clean));
    const isGone = ({ at, bytes: of, key }: AdClick): boolean =>
      of.byteOffset + at === bytes.byteOffset + start && !kept.has(key);
    for (const click of segment.adClicks.filter(isGone)) {
      this.#adClicks.remove(click);
      gone.add(click.key);
    }
    segment.adClicks = segment.adClicks.filter((click) => !isGone(click));
  }

  /**
   * Adds older clicks with the same ad IDs to the index again: the erased clicks had replaced them, and they may not be in ClickHouse
   * yet.
   */
  #reindexOlder(keys: ReadonlySet<string>): void {
    if (keys.size === 0) return;
    for (const { adClicks } of this.segments())
      for (const click of adClicks) if (keys.has(click.key)) this.#adClicks.add(click);
  }

  /** The latest rows of this ad ID: see {@link AdClicks.find}. */
  byAdClickId(search: AdClickSearch): string[] {
    return this.#adClicks.find(search);
  }

  /** All rows with this ad ID that are not in ClickHouse yet, in the order of the stream. Undefined if they have more bytes than that. */
  unstoredWith(id: Omit<AdClickSearch, "offerId">, bytesMax: number): string[] | undefined {
    const key = adClickKey(id);
    const found: string[] = [];
    let bytes = 0;
    for (const { isStored, adClicks } of this.segments()) {
      if (isStored) continue;
      for (const click of adClicks) {
        if (click.key !== key) continue;
        const row = rowOf(click);
        bytes += Buffer.byteLength(row);
        if (bytes > bytesMax) return undefined;
        found.push(row);
      }
    }
    return found;
  }

  /** Drops stored clicks that exceed a limit. `nowMs` is monotonic. */
  forget(nowMs: number): void {
    for (;;) {
      const segment = this.#queue[this.#head];
      if (segment === undefined || !segment.isStored || !this.#isBeyondLimits(segment, nowMs))
        break;
      this.#queue[this.#head] = undefined;
      this.#head += 1;
      this.#remove(segment);
    }
    if (this.#head > FREE_SLOTS_MAX && this.#head > this.#queue.length / 2) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #isBeyondLimits(segment: Segment, nowMs: number): boolean {
    const { ageMs, bytesMax, segmentsMax } = this.#limits;
    return (
      nowMs - segment.readAtMs > ageMs ||
      this.#bytes > bytesMax ||
      this.#queue.length - this.#head > segmentsMax
    );
  }

  #remove(segment: Segment): void {
    this.#bytes -= segment.bytes.length;
    this.#clicks -= segment.to - segment.from;
    for (const second of secondsOf(segment)) {
      const rest = this.#bySecond.get(second);
      rest?.delete(segment);
      if (rest?.size === 0) this.#bySecond.delete(second);
    }
    this.#wide.delete(segment);
    for (const click of segment.adClicks) this.#adClicks.remove(click);
  }
}

function isWide(segment: Segment): boolean {
  return segment.toMs - segment.fromMs > SPAN_MS_MAX;
}

function secondsOf(segment: Segment): number[] {
  if (isWide(segment)) return [];
  const seconds: number[] = [];
  const last = Math.floor(segment.toMs / BUCKET_MS);
  for (let second = Math.floor(segment.fromMs / BUCKET_MS); second <= last; second += 1) {
    seconds.push(second);
  }
  return seconds;
}

function lineAt(bytes: Buffer, at: number): RowSpan {
  return { start: bytes.lastIndexOf(LINE_FEED, at) + 1, end: bytes.indexOf(LINE_FEED, at) };
}

import { KeyedBackoff } from "./keyed-backoff.ts";
import type { LeftoverIdentities } from "./leftover-identities.ts";
import type { Range } from "./reship.ts";
import type { EndedSegment } from "./segment-files.ts";
import type { Passed, Sequence, WatermarkBook } from "./watermarks.ts";

/** How often to ship a range again that the writer lists as missing. It may be on its way, behind other messages to the writer. */
const MISSING_AGAIN = { firstMs: 10_000, longestMs: 600_000 };
/** How often to ship again for writers of an earlier release, which do not list what is missing at the end of a sequence. */
const UNREPORTED_AGAIN = { firstMs: 600_000, longestMs: 6 * 3_600_000 };

type EpochLane = Pick<Range, "epoch" | "lane">;

/** Decides which records of a folder's segments must be shipped now, by the watermarks of the writers. */
export class LeftoverRanges {
  readonly #book: WatermarkBook;
  readonly #identities: LeftoverIdentities;
  readonly #missing = new KeyedBackoff(MISSING_AGAIN);
  readonly #unreported = new KeyedBackoff(UNREPORTED_AGAIN);
  readonly #ends = new Map<string, number>();

  constructor(book: WatermarkBook, identities: LeftoverIdentities) {
    this.#book = book;
    this.#identities = identities;
  }

  /** Whether writers have reported on every lane and epoch. */
  haveWatermarks(segments: readonly EndedSegment[]): boolean {
    return segments.every(({ epoch, lanes }) =>
      [...lanes.keys()].every(
        (lane) =>
          this.#passed({ epoch, lane }) !== undefined ||
          this.#identities.isRefused({ epoch, lane }),
      ),
    );
  }

  /** Ranges to ship now. Each is due again only after its wait. */
  due(segments: readonly EndedSegment[], nowMs: number): Range[] {
    const due = new Map<string, Range>();
    for (const { epoch, lanes, path } of segments) {
      for (const [lane, { first, next }] of lanes) {
        const at = { epoch, lane };
        if (this.#identities.isWaiting(at)) continue;
        const name = this.#nameOf(at);
        this.#ends.set(name, Math.max(next, this.#ends.get(name) ?? 0));
        this.#addMissing(due, at, nowMs);
        const from = Math.max(first, this.#passed(at)?.next ?? 0);
        const key = `${name} ${path}`;
        if (from < next && this.#unreported.takeIfDue(key, nowMs)) {
          due.set(key, { ...at, from, to: next });
        }
      }
    }
    return [...due.values()];
  }

  /** Includes records that are in no segment: frames may be damaged, and those records must be declared lost. */
  #addMissing(due: Map<string, Range>, at: EpochLane, nowMs: number): void {
    for (const [from, to] of this.#passed(at)?.missing ?? []) {
      const key = `${this.#nameOf(at)} ${from}-${to}`;
      if (!due.has(key) && this.#missing.takeIfDue(key, nowMs)) due.set(key, { ...at, from, to });
    }
  }

  #nameOf({ epoch, lane }: EpochLane): string {
    return `${this.#identities.of({ epoch, lane }).producer}.${epoch}.${lane}`;
  }

  /** The end of each epoch in the lanes whose last records are among the ranges. */
  endsOf(ranges: readonly Range[]): { epoch: number; lane: number; next: number }[] {
    const ends = new Map<string, { epoch: number; lane: number; next: number }>();
    for (const { epoch, lane, to } of ranges) {
      const name = this.#nameOf({ epoch, lane });
      if (this.#ends.get(name) === to) ends.set(name, { epoch, lane, next: to });
    }
    return [...ends.values()];
  }

  /** JetStream no longer has what was shipped. */
  forgetShipped(): void {
    this.#unreported.clear();
    this.#missing.clear();
  }

  /** Whether the writers have all records of the segment and miss no record of its epoch. Records declared lost count as stored. */
  isStored(segment: EndedSegment): boolean {
    const { epoch, lanes } = segment;
    const missesNone = (lane: number): boolean =>
      this.#passed({ epoch, lane })?.missing.length === 0;
    return this.isPassed(segment) && [...lanes.keys()].every(missesNone);
  }

  /** Whether the writers have all records of the segment. */
  isPassed({ epoch, lanes }: EndedSegment): boolean {
    return [...lanes].every(([lane, { first, next }]) =>
      this.#book.hasPassed({ ...this.#sequence({ epoch, lane }), first, next }),
    );
  }

  /** Whether the writer of a lane has all records that these segments have for it, and misses no record of their epochs. */
  isLaneStored(segments: readonly EndedSegment[], lane: number): boolean {
    return segments.every(({ epoch, lanes }) => {
      const records = lanes.get(lane);
      if (records === undefined) return true;
      const at = { ...this.#sequence({ epoch, lane }), ...records };
      return this.#book.hasPassed(at) && this.#passed({ epoch, lane })?.missing.length === 0;
    });
  }

  #passed(at: EpochLane): Passed | undefined {
    return this.#book.of(this.#sequence(at));
  }

  #sequence({ epoch, lane }: EpochLane): Sequence {
    return { ...this.#identities.of({ epoch, lane }), epoch, lane };
  }
}

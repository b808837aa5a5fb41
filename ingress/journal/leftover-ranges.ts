import type { LeftoverIdentities } from "./leftover-identities.ts";
import type { Range } from "./reship.ts";
import { RisingWaits } from "./rising-waits.ts";
import type { EndedSegment } from "./segment-files.ts";
import type { Passed, Sequence, WatermarkBook } from "./watermarks.ts";

/** A range that the writer lists: it may be on its way, behind whatever else the writer has to read. */
const MISSING_AGAIN = { firstMs: 10_000, longestMs: 600_000 };
/** A writer of an earlier release does not list what is missing at the end of a sequence. */
const UNHEARD_AGAIN = { firstMs: 600_000, longestMs: 6 * 3_600_000 };

type Place = Pick<Range, "epoch" | "lane">;

/** What of a folder's segments has to be shipped now, by what the writers say that they have. */
export class LeftoverRanges {
  readonly #book: WatermarkBook;
  readonly #identities: LeftoverIdentities;
  readonly #missing = new RisingWaits(MISSING_AGAIN);
  readonly #unheard = new RisingWaits(UNHEARD_AGAIN);
  readonly #ends = new Map<string, number>();

  constructor(book: WatermarkBook, identities: LeftoverIdentities) {
    this.#book = book;
    this.#identities = identities;
  }

  /** Whether writers have said something of every lane and epoch. */
  areHeard(segments: readonly EndedSegment[]): boolean {
    return segments.every(({ epoch, lanes }) =>
      [...lanes.keys()].every(
        (lane) =>
          this.#passed({ epoch, lane }) !== undefined ||
          this.#identities.isRefused({ epoch, lane }),
      ),
    );
  }

  due(segments: readonly EndedSegment[], nowMs: number): Range[] {
    const due = new Map<string, Range>();
    for (const { epoch, lanes, path } of segments) {
      for (const [lane, { first, next }] of lanes) {
        const place = { epoch, lane };
        if (this.#identities.isWaiting(place)) continue;
        const name = this.#nameOf(place);
        this.#ends.set(name, Math.max(next, this.#ends.get(name) ?? 0));
        this.#addMissing(due, place, nowMs);
        const from = Math.max(first, this.#passed(place)?.next ?? 0);
        const key = `${name} ${path}`;
        if (from < next && this.#unheard.mayGo(key, nowMs)) {
          due.set(key, { ...place, from, to: next });
        }
      }
    }
    return [...due.values()];
  }

  /** Also what no segment here holds: frames may be damaged, and then it has to be declared lost. */
  #addMissing(due: Map<string, Range>, place: Place, nowMs: number): void {
    for (const [from, to] of this.#passed(place)?.missing ?? []) {
      const key = `${this.#nameOf(place)} ${from}-${to}`;
      if (!due.has(key) && this.#missing.mayGo(key, nowMs)) due.set(key, { ...place, from, to });
    }
  }

  #nameOf({ epoch, lane }: Place): string {
    return `${this.#identities.of({ epoch, lane }).producer}.${epoch}.${lane}`;
  }

  /** How far each epoch goes in the lanes of which its end is among the ranges. */
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
    this.#unheard.clear();
    this.#missing.clear();
  }

  /** Everything of every lane has passed and nothing of its epoch is missed: what was lost has been declared. */
  isHome({ epoch, lanes }: EndedSegment): boolean {
    return [...lanes].every(([lane, { first, next }]) => {
      const sequence = this.#sequence({ epoch, lane });
      const isPassed = this.#book.hasPassed({ ...sequence, first, next });
      return isPassed && this.#book.of(sequence)?.missing.length === 0;
    });
  }

  #passed(place: Place): Passed | undefined {
    return this.#book.of(this.#sequence(place));
  }

  #sequence({ epoch, lane }: Place): Sequence {
    return { ...this.#identities.of({ epoch, lane }), epoch, lane };
  }
}

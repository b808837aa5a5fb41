import type { AdClick } from "../young/ad-clicks.ts";

/** Rows of consecutive positions of one producer and one partition, as one message brought them. */
export type Segment = {
  readonly producer: number;
  readonly epoch: number;
  /** Positions from `from` up to, and without, `to`: one row each. */
  readonly from: number;
  readonly to: number;
  /** Year and month in UTC, as 202601: the partition of its rows. */
  readonly month: number;
  /** The rows as ClickHouse reads them: JSON, each ended by a line feed. An erasure changes them in place, between two inserts. */
  readonly bytes: Buffer;
  /** Time of its oldest and its newest row, UTC ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Its rows with ad-platform ids, once for each id, in the order of the rows; without those that were erased. */
  adClicks: readonly AdClick[];
  /** Monotonic ms. */
  readonly readAtMs: number;
  isStored: boolean;
};

/** Positions that will never be in the table. */
export type LostRange = {
  readonly producer: number;
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
  /** `passed on`: another ingress has recorded this click of a coupon. */
  readonly reason: "declared" | "unreadable" | "passed on";
};

/** A producer's word that its sequence goes at least to `end`, which is exclusive. */
export type ExpectedEnd = {
  readonly producer: number;
  readonly epoch: number;
  readonly end: number;
};

/** What acknowledges a message, and all before it. */
export type Acknowledgeable = { ack(): void };

/** What consecutive messages brought, until it is stored. */
export class Batch {
  readonly #segments: Segment[] = [];
  readonly lost: LostRange[] = [];
  readonly expected: ExpectedEnd[] = [];
  /** The last message of which nothing is in a later batch. */
  lastMessage: Acknowledgeable | undefined;
  /** Monotonic ms of the first message; undefined without one. */
  openedAtMs: number | undefined;
  #rows = 0;
  #bytes = 0;

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether anything has to be written down before its messages may be acknowledged. */
  get hasWork(): boolean {
    return this.#rows > 0 || this.lost.length > 0;
  }

  add(segment: Segment): void {
    this.#segments.push(segment);
    this.#rows += segment.to - segment.from;
    this.#bytes += segment.bytes.length;
  }

  /** What is still to be inserted: partition by partition, oldest first, each in the order of the stream. */
  get missingByMonth(): Segment[][] {
    const months = new Map<number, Segment[]>();
    for (const segment of this.#segments) {
      if (segment.isStored) continue;
      const known = months.get(segment.month);
      if (known === undefined) months.set(segment.month, [segment]);
      else known.push(segment);
    }
    return [...months].sort(([a], [b]) => a - b).map(([, segments]) => segments);
  }
}

/** The first segments that together have at most `rowsMax` rows; always one at least. */
export function takeRows(segments: readonly Segment[], start: number, rowsMax: number): Segment[] {
  const taken: Segment[] = [];
  let rows = 0;
  for (let index = start; index < segments.length; index += 1) {
    const segment = segments[index];
    if (segment === undefined) break;
    rows += segment.to - segment.from;
    if (taken.length > 0 && rows > rowsMax) break;
    taken.push(segment);
  }
  return taken;
}

export function rowsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.to - segment.from, 0);
}

/** Year and month of UTC ms, as 202601. Remembers the last month: rows come in the order of time. */
export class MonthOf {
  #fromMs = 0;
  #toMs = 0;
  #month = 0;

  of(atMs: number): number {
    if (atMs < this.#fromMs || atMs >= this.#toMs) {
      const at = new Date(atMs);
      const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
      this.#fromMs = Date.UTC(year, month);
      this.#toMs = Date.UTC(year, month + 1);
      this.#month = year * 100 + month + 1;
    }
    return this.#month;
  }
}

import type { AdClick } from "./ad-clicks.ts";

/** Rows at consecutive positions of one producer and one partition, from one message. */
export type Segment = {
  readonly producer: number;
  readonly epoch: number;
  /** One row for each position from `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
  /** Year and month in UTC, as 202601: the partition of the rows. */
  readonly month: number;
  /**
   * The rows in the form that ClickHouse reads: JSON, each with a line feed at its end. An erasure changes them in place, between two
   * inserts.
   */
  readonly bytes: Buffer;
  /** Times of the oldest and the newest row, UTC ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Rows with ad IDs, once for each ID, in the order of the rows; without erased ones. */
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

/** A producer's message that its sequence reaches at least `end` (exclusive). */
export type ExpectedEnd = {
  readonly producer: number;
  readonly epoch: number;
  readonly end: number;
};

/** A message. `ack` acknowledges it and all messages before it. `isRepeat`: this process has read it before. */
export type Acknowledgeable = { readonly isRepeat?: boolean; ack(): void };

/** The contents of consecutive messages, until they are stored. */
export class Batch {
  readonly #segments: Segment[] = [];
  readonly lost: LostRange[] = [];
  readonly expected: ExpectedEnd[] = [];
  /** The last message whose contents are all in this batch or in earlier ones. */
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

  /** Whether anything must be stored before the messages may be acknowledged. */
  get hasWork(): boolean {
    return this.#rows > 0 || this.lost.length > 0;
  }

  add(segment: Segment): void {
    this.#segments.push(segment);
    this.#rows += segment.to - segment.from;
    this.#bytes += segment.bytes.length;
  }

  /** Segments that must still be inserted: by partition, oldest first, each in the order of the stream. */
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

/** The next segments that together have at most these numbers of rows and of ranges of positions; always at least one segment. */
export function takeRows(
  segments: readonly Segment[],
  start: number,
  { rowsMax, rangesMax }: { readonly rowsMax: number; readonly rangesMax: number },
): Segment[] {
  const taken: Segment[] = [];
  /** For each producer and epoch, the end of its last segment. */
  const ends = new Map<string, number>();
  let [rows, ranges] = [0, 0];
  for (let index = start; index < segments.length; index += 1) {
    const segment = segments[index];
    if (segment === undefined) break;
    const key = `${segment.producer}.${segment.epoch}`;
    rows += segment.to - segment.from;
    if (ends.get(key) !== segment.from) ranges += 1;
    if (taken.length > 0 && (rows > rowsMax || ranges > rangesMax)) break;
    ends.set(key, segment.to);
    taken.push(segment);
  }
  return taken;
}

export function rowsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.to - segment.from, 0);
}

/** Year and month of UTC ms, as 202601. Caches the last month, because rows arrive in order of time. */
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

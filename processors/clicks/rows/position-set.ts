/** Positions from `from` up to, but not including, `to`. */
export type Range = readonly [from: number, to: number];

/** Number of positions in ranges that do not overlap. */
export function sizeOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0);
}

/**
 * The positions of one producer's sequence that are done: everything below `next` except the holes.
 * Invariant: holes are not empty, do not touch, ascend, and end below `next`.
 */
export class PositionSet {
  #next: number;
  #holes: Range[];

  /** `holes` ascend and lie below `next`. */
  constructor(next = 0, holes: readonly Range[] = []) {
    this.#next = next;
    this.#holes = [...holes];
  }

  get next(): number {
    return this.#next;
  }

  get holes(): readonly Range[] {
    return this.#holes;
  }

  /** The positions in the set, ascending. */
  get ranges(): Range[] {
    const ranges: Range[] = [];
    let start = 0;
    for (const [from, to] of [...this.#holes, [this.#next, this.#next] as const]) {
      if (start < from) ranges.push([start, from]);
      start = to;
    }
    return ranges;
  }

  /** Number of positions in the set. */
  get size(): number {
    return this.#next - sizeOf(this.#holes);
  }

  /** Number of positions below `end` in the set. */
  sizeBelow(end: number): number {
    const below = Math.min(end, this.#next);
    return this.#holes.reduce(
      (sum, [from, to]) => sum - Math.max(0, Math.min(to, below) - Math.min(from, below)),
      below,
    );
  }

  /** Whether adding `from` would open one more hole. */
  wouldJump(from: number): boolean {
    return from > this.#next;
  }

  /** Whether any position of the range is in the set. */
  hasAny(from: number, to: number): boolean {
    if (from >= to || from >= this.#next) return false;
    return !this.#holes.some((hole) => hole[0] <= from && Math.min(to, this.#next) <= hole[1]);
  }

  /** Adds a range. Returns the parts of it that were not in the set, ascending. */
  add(from: number, to: number): Range[] {
    if (from >= to) return [];
    const fresh = this.#fillHoles(from, to);
    if (to > this.#next) {
      const start = Math.max(from, this.#next);
      if (start > this.#next) this.#holes.push([this.#next, start]);
      fresh.push([start, to]);
      this.#next = to;
    }
    return fresh;
  }

  /** All positions before `end` exist. Those after `next` become a hole, which is returned. */
  expect(end: number): Range | undefined {
    if (end <= this.#next) return undefined;
    const hole: Range = [this.#next, end];
    this.#holes.push(hole);
    this.#next = end;
    return hole;
  }

  #fillHoles(from: number, to: number): Range[] {
    const filled: Range[] = [];
    const rest: Range[] = [];
    for (const hole of this.#holes) {
      const start = Math.max(hole[0], from);
      const end = Math.min(hole[1], to);
      if (start >= end) {
        rest.push(hole);
        continue;
      }
      filled.push([start, end]);
      if (hole[0] < start) rest.push([hole[0], start]);
      if (end < hole[1]) rest.push([end, hole[1]]);
    }
    if (filled.length > 0) this.#holes = rest;
    return filled;
  }
}

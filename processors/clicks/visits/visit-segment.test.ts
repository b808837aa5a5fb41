import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Tally } from "./tally.ts";
import { VisitBlocks } from "./visit-blocks.ts";
import { VisitPrint } from "./visit-print.ts";
import { NO_ENTRY, type SegmentShare, VisitSegment } from "./visit-segment.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const CLASSES = 4_096;
const SEGMENT_BITS = 10;
const GONE_MS = Number.NEGATIVE_INFINITY;

/** A visit has one offer. */
const USED_CLASSES = [0, 1, 2, CLASSES - 1] as const;

type Known = { readonly offerClass: number; readonly atMs: number };

/** A segment and a plain Map that must agree. */
class Pair {
  readonly model = new Map<string, Known>();
  readonly tally = new Tally(CLASSES);
  dropBeforeMs = GONE_MS;
  readonly segment: VisitSegment;

  constructor(options: { bucketEntriesMax?: number; expected?: number; words?: number } = {}) {
    const { bucketEntriesMax = 8, expected, words = 100 } = options;
    const share: SegmentShare = {
      segmentBits: SEGMENT_BITS,
      bucketEntriesMax,
      tally: this.tally,
      scratch: new VisitBlocks(new Int32Array()),
      dropBeforeMs: () => this.dropBeforeMs,
    };
    this.segment = new VisitSegment(new Int32Array(words), share, expected);
  }

  put(print: VisitPrint, atMs: number): void {
    const { segment } = this;
    const offerClass = classOf(print);
    segment.cover(atMs);
    const entry = segment.find(print);
    if (entry === NO_ENTRY) segment.add(print, offerClass, atMs);
    else segment.setTime(entry, atMs);
    this.model.set(nameOf(print), { offerClass, atMs });
  }

  load(print: VisitPrint, atMs: number): void {
    this.segment.load(print, classOf(print), atMs);
    const knownMs = this.model.get(nameOf(print))?.atMs ?? GONE_MS;
    const known = { offerClass: classOf(print), atMs: Math.max(atMs, knownMs) };
    this.model.set(nameOf(print), known);
  }

  removeWhere(isRemoved: (offerClass: number, atMs: number) => boolean): void {
    this.segment.removeWhere(isRemoved);
    for (const [name, { offerClass, atMs }] of this.model)
      if (isRemoved(offerClass, atMs)) this.model.delete(name);
  }

  timeOf(print: VisitPrint): number | undefined {
    const entry = this.segment.find(print);
    return entry === NO_ENTRY ? undefined : this.segment.timeAt(entry);
  }

  /** What differs. Entries before `dropBeforeMs` may be there or not. */
  differences(prints: readonly VisitPrint[]): string[] {
    const wrong = prints.filter((print) => {
      const atMs = this.timeOf(print) ?? GONE_MS;
      const knownMs = this.model.get(nameOf(print))?.atMs ?? GONE_MS;
      return atMs !== knownMs && (atMs !== GONE_MS || knownMs >= this.dropBeforeMs);
    });
    const differences = wrong.map((print) => `the time of ${nameOf(print)}`);
    const check = (isRight: boolean, what: string): void => {
      if (!isRight) differences.push(what);
    };
    this.removeWhere((_offerClass, atMs) => atMs < this.dropBeforeMs);
    const known = [...this.model.values()];
    for (const used of USED_CLASSES) {
      const count = known.filter(({ offerClass }) => offerClass === used).length;
      check(this.tally.ofClass[used] === count, `the visits of class ${used}`);
    }
    const sizes = [this.segment.size, this.tally.size];
    check(sizes.join() === `${known.length},${known.length}`, `the sizes ${sizes.join()}`);
    const found: string[] = [];
    this.segment.forEach((offerClass, atMs) => found.push(`${offerClass} ${atMs}`));
    const expected = known.map((of) => `${of.offerClass} ${of.atMs}`);
    check(found.sort().join() === expected.sort().join(), "the entries");
    this.segment.findOldest();
    const oldestMs = Math.min(...known.map(({ atMs }) => atMs));
    check(this.segment.oldestMs === oldestMs, "the oldest time");
    return differences;
  }
}

/** A print of the segment 0: after the bits of the segment come six bits of `place`, then `key`, then `rest`. */
function printOf(place: number, key: number, rest: number): VisitPrint {
  const print = new VisitPrint();
  print.high = ((place & 63) << 16) | (key >>> 16);
  print.key = key | 0;
  print.rest = rest & 0xfff;
  return print;
}

/** Evenly spread, as hashes are. */
function spreadPrint(index: number): VisitPrint {
  const key = Math.imul(index + 1, 0x9e37_79b1);
  return printOf(Math.imul(index + 1, 0x85eb_ca77) >>> 26, key, index);
}

function classOf({ rest }: VisitPrint): number {
  return USED_CLASSES[rest % 4] ?? 0;
}

function nameOf({ high, key, rest }: VisitPrint): string {
  return `${high} ${key} ${rest}`;
}

/** Few places and keys, so that buckets are full and prints differ in their last 12 bits only. */
const anyPrint = fc
  .record({
    place: fc.constantFrom(0, 1, 63),
    key: fc.oneof(fc.constantFrom(0, 1, -1, 1 << 31), fc.integer()),
    rest: fc.integer({ min: 0, max: 40 }),
  })
  .map(({ place, key, rest }) => printOf(place, key, rest));
/** Mostly within a month, some years apart. */
const anyTime = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: 30 * DAY_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: -2_000 * DAY_MS, max: 6_000 * DAY_MS }) },
);
const put = fc.record({ kind: fc.constant("put" as const), print: anyPrint, at: anyTime });
const step = fc.oneof(
  { weight: 60, arbitrary: put },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const), at: anyTime }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("drop" as const),
      of: fc.constantFrom(...USED_CLASSES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("burst" as const), from: fc.nat(500) }) },
);

describe("a segment and a plain Map agree", () => {
  test.each([0.5, 4, 1_000])("after any steps, when buckets double at %d entries", (limit) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: "max" }), (steps) => {
        const pair = new Pair({ bucketEntriesMax: limit });
        const prints: VisitPrint[] = [];
        for (const one of steps) {
          if (one.kind === "put") {
            pair.put(one.print, START_MS + one.at);
            prints.push(one.print);
          } else if (one.kind === "expire") {
            pair.dropBeforeMs = Math.max(pair.dropBeforeMs, START_MS + Math.min(one.at, DAY_MS));
          } else if (one.kind === "drop") {
            pair.removeWhere((offerClass) => offerClass === one.of);
          } else {
            for (let index = one.from; index < one.from + 200; index += 1) {
              prints.push(spreadPrint(index));
              pair.put(spreadPrint(index), START_MS + index);
            }
          }
        }
        expect(pair.differences(prints)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test("after loading in any order: the latest time of a visit stays", () => {
    const loads = fc.array(fc.tuple(anyPrint, anyTime), { maxLength: 400, size: "max" });
    fc.assert(
      fc.property(loads, fc.nat(500), fc.nat(100), (rows, expected, later) => {
        const pair = new Pair({ expected });
        for (const [print, at] of rows) pair.load(print, START_MS + at);
        pair.segment.settle();
        const prints = rows.map(([print]) => print);
        for (let index = 0; index < later; index += 1) {
          prints.push(spreadPrint(index));
          pair.put(spreadPrint(index), START_MS + index);
        }
        expect(pair.differences(prints)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

test("a visit may be loaded more often than a bucket has entries", () => {
  const pair = new Pair({ expected: 100 });
  for (let index = 0; index < 10_000; index += 1) {
    pair.load(printOf(3, 77, 5), START_MS + ((index * 7_919) % 10_000) * 60_000);
    if (index % 10 === 0) pair.load(spreadPrint(index), START_MS + index);
  }
  pair.segment.settle();
  expect(pair.differences([printOf(3, 77, 5), spreadPrint(990)])).toEqual([]);
});

test("prints that share all but their last 12 bits are different visits", () => {
  const pair = new Pair();
  const prints = Array.from({ length: 4_000 }, (_, rest) => printOf(5, 123_456, rest));
  for (const [index, print] of prints.entries()) pair.put(print, START_MS + index);
  expect(pair.differences(prints)).toEqual([]);
});

test("times years apart are exact to the millisecond, also after they are near again", () => {
  const pair = new Pair();
  const prints = Array.from({ length: 600 }, (_, index) => spreadPrint(index));
  const timeOf = (index: number): number => START_MS + index * 4 * DAY_MS + index;
  for (const [index, print] of prints.entries()) pair.put(print, timeOf(index));
  expect(pair.differences(prints)).toEqual([]);
  pair.dropBeforeMs = timeOf(590);
  for (let index = 600; index < 1_200; index += 1) {
    prints.push(spreadPrint(index));
    pair.put(spreadPrint(index), timeOf(595) + index);
  }
  expect(pair.differences(prints)).toEqual([]);
});

test("a time far from all others is exact, whatever its entry makes the segment do", () => {
  for (let others = 0; others < 150; others += 1) {
    const pair = new Pair({ bucketEntriesMax: 0.5 });
    const prints = Array.from({ length: others }, (_, index) => spreadPrint(index));
    for (const print of prints) pair.put(print, START_MS);
    for (const [index, days] of [-100, 4_000, 100].entries()) {
      const print = spreadPrint(others + index);
      pair.put(print, START_MS + days * DAY_MS);
      prints.push(print);
    }
    expect(pair.differences(prints)).toEqual([]);
  }
});

test.each([
  { spanMs: 40 * DAY_MS, most: 11.9 },
  { spanMs: 365 * DAY_MS, most: 13 },
])("100,000 visits within $spanMs ms take at most $most bytes each", ({ spanMs, most }) => {
  const visits = 100_000;
  const pair = new Pair({ bucketEntriesMax: 96, words: 400_000 });
  for (let index = 0; index < visits; index += 1)
    pair.put(spreadPrint(index), START_MS + Math.floor((index / visits) * spanMs));
  expect(pair.segment.size).toBe(visits);
  expect(pair.segment.bytes / visits).toBeLessThan(most);
});

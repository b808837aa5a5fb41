import { expect, test } from "vitest";
import { openLog } from "../../schemas/host/log.ts";
import { LeftoverIdentities } from "./leftover-identities.ts";
import { LeftoverRanges } from "./leftover-ranges.ts";
import { MovedEpochs } from "./moved-epochs.ts";
import type { EndedSegment } from "./segment-files.ts";
import { WatermarkBook } from "./watermarks.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const SEGMENT: EndedSegment = {
  path: "3-000001.wal",
  epoch: 3,
  lanes: new Map([[0, { first: 0, next: 500 }]]),
  damagedBytes: 0,
};

function leftovers(nonce: string): { book: WatermarkBook; ranges: LeftoverRanges } {
  const book = new WatermarkBook((error) => {
    throw error;
  });
  const identities = new LeftoverIdentities({
    producer: 7,
    book,
    log: openLog({ process: "test", level: "silent" }),
    runs: [{ epoch: 3, nonce }],
    moved: new MovedEpochs("/nowhere"),
  });
  return { book, ranges: new LeftoverRanges(book, identities) };
}

test("what a dead process left is shipped once, not every 10 s, while nothing is stored (#8)", () => {
  const { book, ranges } = leftovers("own");
  let records = 0;
  let rounds = 0;
  for (let nowMs = 0; nowMs < 12 * HOUR_MS; nowMs += 500) {
    // The writer runs and has stored nothing, because ClickHouse is down.
    if (nowMs % (60 * SECOND_MS) === 0) {
      book.take([{ lane: 0, producer: 7, epoch: 3, next: 0, missing: [] }]);
    }
    const due = ranges.due([SEGMENT], nowMs);
    if (due.length > 0) rounds += 1;
    records += due.reduce((sum, { from, to }) => sum + to - from, 0);
  }
  // Once, and for writers of earlier releases after 10, 30, 70, 150, 310 and 630 minutes; 4,320 rounds before.
  expect({ rounds, records }).toEqual({ rounds: 7, records: 3_500 });
});

test("what the writer lists as missing is shipped again, and all of it once JetStream has lost it (#8)", () => {
  const { book, ranges } = leftovers("own");
  expect(ranges.due([SEGMENT], 0)).toEqual([{ epoch: 3, lane: 0, from: 0, to: 500 }]);
  book.take([{ lane: 0, producer: 7, epoch: 3, next: 500, missing: [[100, 120]] }]);
  const missing = [{ epoch: 3, lane: 0, from: 100, to: 120 }];
  expect(ranges.due([SEGMENT], SECOND_MS)).toEqual(missing);
  expect(ranges.due([SEGMENT], 2 * SECOND_MS)).toEqual([]);
  expect(ranges.due([SEGMENT], 12 * SECOND_MS)).toEqual(missing);
  book.take([{ lane: 0, producer: 7, epoch: 3, next: 200, missing: [] }]);
  ranges.forgetShipped();
  expect(ranges.due([SEGMENT], 13 * SECOND_MS)).toEqual([
    { epoch: 3, lane: 0, from: 200, to: 500 },
  ]);
});

test("a watermark of another start with the same number says nothing about these records (#7)", () => {
  const { book, ranges } = leftovers("own");
  book.take([{ lane: 0, producer: 7, epoch: 3, next: 500, missing: [], nonce: "other" }]);
  expect(ranges.isStored(SEGMENT)).toBe(false);
  // They are refused and have no other number yet, so they wait.
  expect(ranges.due([SEGMENT], 0)).toEqual([]);
  book.take([{ lane: 0, producer: 7, epoch: 3, next: 500, missing: [], nonce: "own" }]);
  expect(ranges.isStored(SEGMENT)).toBe(true);
});

test("a lane is stored by its own records, however little the writers of other lanes have", () => {
  const { book, ranges } = leftovers("own");
  const lanes = new Map([
    [0, { first: 0, next: 500 }],
    [4, { first: 0, next: 20 }],
  ]);
  const segments = [{ ...SEGMENT, lanes }];
  const stored = (): boolean[] => [0, 1, 4].map((lane) => ranges.isLaneStored(segments, lane));
  expect(stored()).toEqual([false, true, false]);
  // Lane 4 was added and is not open: it says nothing.
  book.take([{ lane: 0, producer: 7, epoch: 3, next: 500, missing: [[100, 120]] }]);
  expect(stored()).toEqual([false, true, false]);
  book.take([{ lane: 0, producer: 7, epoch: 3, next: 500, missing: [] }]);
  expect(stored()).toEqual([true, true, false]);
  book.take([{ lane: 4, producer: 7, epoch: 3, next: 20, missing: [] }]);
  expect(stored()).toEqual([true, true, true]);
});

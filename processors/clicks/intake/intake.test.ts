import { expect, test } from "vitest";
import { Catalog } from "../../../schemas/catalog/catalog.ts";
import { encodeBatch } from "../../../schemas/events/click-batch.ts";
import { Lanes } from "../../../schemas/events/lanes.ts";
import { processorTimeRatio } from "../../../test/samples/processor-time.ts";
import { CLICK_TABLE } from "../rows/lane-table.ts";
import { Intake } from "./intake.ts";

const TS = Date.UTC(2026, 0, 1);

/** An intake, and a list of the events that it reports. */
function anIntake(nowMs = (): number => TS): { intake: Intake; events: string[] } {
  const events: string[] = [];
  const intake = new Intake({
    lane: 0,
    table: CLICK_TABLE,
    catalog: new Catalog(),
    clock: { nowMs },
    events: {
      undecodable: () => events.push("undecodable"),
      unreadable: ({ position }) => events.push(`unreadable ${position}`),
      lost: ({ from, to, reason }) => events.push(`lost ${from}-${to} ${reason}`),
      hole: (_producer, [from, to]) => events.push(`hole ${from}-${to}`),
      repeated: (records) => events.push(`repeated ${records}`),
      foreign: (_producer, records) => events.push(`foreign ${records}`),
      visitsForgotten: ({ visits }) => events.push(`forgotten ${visits}`),
      refused: () => events.push("refused"),
    },
  });
  return { intake, events };
}

function click(position: number, ts = TS): string {
  return JSON.stringify({ click_id: position.toString(16).padStart(32, "0"), ts });
}

function take(
  intake: Intake,
  first: number,
  lines: readonly string[],
  { lostFrom, monotonicMs = 0 }: { lostFrom?: number; monotonicMs?: number } = {},
): void {
  const head = { producer: 1, epoch: 1, lane: 0, first, at: TS };
  const batch = { ...head, lines, ...(lostFrom === undefined ? {} : { lostFrom }) };
  intake.take(encodeBatch(batch), { ack: () => undefined }, monotonicMs);
}

test("every record has exactly one outcome: row, repeat, lost or dead", () => {
  const { intake, events } = anIntake();
  take(intake, 0, [click(0), click(1)]);
  take(intake, 1, [click(1), click(2)]);
  take(intake, 3, [click(3), "dead", click(5)]);
  take(intake, 9, [click(9)], { lostFrom: 6 });
  intake.take(new Uint8Array([1, 2, 3]), { ack: () => undefined }, 0);
  take(intake, 12, [click(12)]);
  expect(events).toEqual([
    "repeated 1",
    "unreadable 4",
    "lost 4-5 unreadable",
    "lost 6-9 declared",
    "undecodable",
    "hole 10-12",
  ]);
  const { segments, lost } = intake.first;
  expect(segments.map(({ from, to }) => [from, to])).toEqual([
    [0, 2],
    [2, 3],
    [3, 4],
    [5, 6],
    [9, 10],
    [12, 13],
  ]);
  expect(lost).toHaveLength(2);
});

test("a segment ends with its month, and its bytes are the lines plus the writer's columns", () => {
  const { intake } = anIntake();
  take(intake, 0, [click(0, TS - 1), click(1), click(2)]);
  const rows = intake.first.segments.map(({ month, bytes }) => [month, bytes.toString()]);
  const added = (position: number): string =>
    `,"is_unique":false,"_producer":1,"_epoch":1,"_position":${position}}\n`;
  expect(rows).toEqual([
    [202_512, click(0, TS - 1).slice(0, -1) + added(0)],
    [202_601, click(1).slice(0, -1) + added(1) + click(2).slice(0, -1) + added(2)],
  ]);
});

test("the batch being written is not filled, and memory is bounded while nothing is written", {
  timeout: 5_000,
}, () => {
  const { intake } = anIntake();
  take(intake, 0, [click(0)]);
  const sealed = intake.sealFirst();
  take(intake, 1, [click(1)]);
  expect(sealed.rows).toBe(1);
  expect(intake.rows).toBe(2);
  const long = "x".repeat(8 * 1024 * 1024);
  let position = 2;
  while (!intake.isFull && position < 100) {
    take(intake, position, [click(position).replace("}", `,"sub1":"${long}"}`)]);
    position += 1;
  }
  expect(position).toBeLessThan(20);
});

test("gaps beyond a thousand are refused: later records must come again", () => {
  const { intake, events } = anIntake();
  for (let first = 1; first <= 2_003; first += 2) take(intake, first, [click(first)]);
  expect(events.filter((line) => line.startsWith("hole"))).toHaveLength(1_000);
  expect(events.slice(-2)).toEqual(["refused", "refused"]);
});

const FULL_CLICKS = 12_000;

/**
 * An intake with a full memory of young clicks. The returned function adds as many clicks again, so that each segment removes an old
 * one.
 */
function takeMore(
  adIdOf: (position: number) => string,
  workspaceOf: (position: number) => number = () => 1,
): () => void {
  let nowMs = 0;
  const { intake } = anIntake();
  const [clicksPerMessage, messageMs] = [100, 6_000];
  let first = 0;
  const takeAll = (): void => {
    for (const end = first + FULL_CLICKS; first < end; first += clicksPerMessage) {
      const lines = Array.from({ length: clicksPerMessage }, (_, index) => {
        const position = first + index;
        const fields = `,"workspace_id":${workspaceOf(position)},"gclid":"${adIdOf(position)}"}`;
        return click(position).replace("}", fields);
      });
      take(intake, first, lines, { monotonicMs: nowMs });
      for (const segment of intake.sealFirst().segments) segment.isStored = true;
      intake.dropFirst(nowMs);
      nowMs += messageMs;
    }
  };
  takeAll();
  expect(intake.young.count).toBeLessThan(FULL_CLICKS);
  return takeAll;
}

test("a clock that jumps ahead and back makes young clicks leave neither early nor late (#11, P12)", () => {
  const HOUR_MS = 3_600_000;
  let clockMs = TS;
  const { intake } = anIntake(() => clockMs);
  const store = (position: number, monotonicMs: number): void => {
    take(intake, position, [click(position)], { monotonicMs });
    for (const segment of intake.sealFirst().segments) segment.isStored = true;
    intake.dropFirst(monotonicMs);
  };
  store(0, 0);
  clockMs += HOUR_MS;
  store(1, 1_000);
  expect(intake.young.count).toBe(2);
  clockMs -= HOUR_MS;
  store(2, 602_000);
  expect(intake.young.count).toBe(1);
});

test("clicks that share one ad ID cost the writer no more than others (#0, P40)", () => {
  const usual = takeMore((position) => `id-${position}`);
  const other = takeMore(() => "abc123");
  // With a search through a list for each removed segment, the ratio was 23.
  expect(processorTimeRatio({ usual, other }, 3)).toBeLessThan(3);
});

test("clicks of a workspace each cost the writer no more than those of one, and leave nothing behind (P40)", () => {
  const usual = takeMore((position) => `id-${position}`);
  const other = takeMore(
    (position) => `id-${position}`,
    (position) => position + 1,
  );
  expect(processorTimeRatio({ usual, other }, 2)).toBeLessThan(2);
});

test("ClickHouse has every click until the oldest that waits for it, else until what is known (G264)", () => {
  const { intake } = anIntake();
  const message = (first: number, atMs: number, ...clicksMs: number[]): void => {
    const lines = clicksMs.map((ms, index) => click(first + index, TS + ms));
    const head = { producer: 1, epoch: 1, lane: 0, first, at: TS + atMs };
    intake.take(encodeBatch({ ...head, lines }), { ack: () => undefined }, 0);
  };
  message(0, 0, 0);
  expect(intake.storedToMs(undefined)).toBe(0);
  message(1, 60_000, 50_000, 40_000);
  const [first, second] = intake.first.segments;
  expect(intake.storedToMs(undefined)).toBe(TS);
  if (first !== undefined) first.isStored = true;
  expect(intake.storedToMs(undefined)).toBe(TS + 40_000);
  if (second !== undefined) second.isStored = true;
  expect(intake.storedToMs(undefined)).toBe(TS + 60_000);
});

test("an announced end after missing records opens a gap, which late records fill (#8)", () => {
  const { intake, events } = anIntake();
  take(intake, 0, [click(0), click(1)]);
  take(intake, 5, []);
  take(intake, 5, []);
  expect(events).toEqual(["hole 2-5"]);
  expect(intake.first.expected).toEqual([{ producer: 1, epoch: 1, end: 5 }]);
  take(intake, 2, [click(2), click(3), click(4)]);
  expect(intake.producers.get(1, 1).accepted.holes).toEqual([]);
  expect(events).toEqual(["hole 2-5"]);
});

test("every segment is part of an undecided insert or has nothing of it", () => {
  const { intake } = anIntake();
  const segments = () => intake.undecided.segmentsIn(intake.batches);
  intake.undecided.intent = {
    n: 7,
    table: "click",
    month: 202_601,
    ranges: [
      [1, 1, 2, 5],
      [1, 1, 8, 9],
      [2, 1, 0, 4],
    ],
    token: "t",
    home: null,
  };
  const lines = Array.from({ length: 12 }, (_, position) => click(position));
  take(intake, 0, lines.slice(0, 4));
  expect([intake.undecided.isRead(intake.producers), segments().length]).toEqual([false, 1]);
  take(intake, 3, lines.slice(3, 12));
  const ranges = intake.first.segments.map(({ from, to }) => [from, to]);
  expect(ranges).toEqual([
    [0, 2],
    [2, 4],
    [4, 5],
    [5, 8],
    [8, 9],
    [9, 12],
  ]);
  const own = segments().map(({ from, to }) => [from, to]);
  expect(own).toEqual([
    [2, 4],
    [4, 5],
    [8, 9],
  ]);
  expect(intake.undecided.isRead(intake.producers)).toBe(false);
  intake.undecided.intent = undefined;
  take(intake, 12, lines.slice(0, 3));
  expect(intake.first.segments.at(-1)).toMatchObject({ from: 12, to: 15 });
});

test("a lane that has left an offer finds no later click on it unique, and says what must be stored before", () => {
  const { intake } = anIntake();
  const visit = (position: number, visitor: number): string =>
    JSON.stringify({
      click_id: position.toString(16).padStart(32, "0"),
      ts: TS,
      offer_id: 4,
      affiliate_id: 1,
      visitor,
      status: "redirect",
      may_be_unique: true,
    });
  const uniques = (): boolean[] =>
    intake.batches.flatMap(({ segments }) =>
      segments.flatMap(({ bytes }) =>
        bytes
          .toString()
          .trimEnd()
          .split("\n")
          .map((line) => line.includes('"is_unique":true')),
      ),
    );
  take(intake, 0, [visit(0, 1)]);
  const before = intake.leaveOffers(new Lanes(8));
  take(intake, 1, [visit(1, 2)]);
  expect(uniques()).toEqual([true, false]);
  expect(before).toEqual([intake.first]);
  intake.sealFirst();
  intake.dropFirst(0);
  expect(intake.batches.includes(before[0] ?? intake.first)).toBe(false);
  expect(uniques()).toEqual([false]);
});

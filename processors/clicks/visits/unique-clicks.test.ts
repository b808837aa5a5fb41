import { describe, expect, test } from "vitest";
import { processorTimeRatio } from "../../../test/samples/processor-time.ts";
import { type ForgottenVisits, UniqueClicks } from "./unique-clicks.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 1);
const visit = { offerId: 7, affiliateId: 3, visitor: 2 ** 52 - 1 };

function uniques(entriesMax = 1_000_000): UniqueClicks {
  return new UniqueClicks({ entriesMax, retentionMs: DAY_MS });
}

test("the first click of a visitor is unique, repeats within the window are not", () => {
  const clicks = uniques();
  expect(clicks.take(visit, START_MS, DAY_MS)).toBe(true);
  expect(clicks.take(visit, START_MS, DAY_MS)).toBe(false);
  expect(clicks.take(visit, START_MS + DAY_MS - 1, DAY_MS)).toBe(false);
  expect(clicks.take(visit, START_MS + DAY_MS, DAY_MS)).toBe(true);
});

test("the window begins at the unique click, not at its repeats", () => {
  const clicks = uniques();
  clicks.take(visit, START_MS, DAY_MS);
  clicks.take(visit, START_MS + 20 * HOUR_MS, DAY_MS);
  expect(clicks.take(visit, START_MS + 25 * HOUR_MS, DAY_MS)).toBe(true);
});

test("another offer, partner or visitor is another visit", () => {
  const clicks = uniques();
  clicks.take(visit, START_MS, DAY_MS);
  for (const other of [{ offerId: 8 }, { affiliateId: 4 }, { visitor: 2 ** 51 }, { visitor: 1 }]) {
    expect(clicks.take({ ...visit, ...other }, START_MS, DAY_MS)).toBe(true);
  }
});

test("thirty thousand visits stay distinct while the table grows", () => {
  const clicks = uniques();
  for (const isFirst of [true, false]) {
    let wrong = 0;
    for (let i = 0; i < 30_000; i += 1) {
      const asked = { offerId: i % 97, affiliateId: i % 89, visitor: i * 40_503_001 };
      if (clicks.take(asked, START_MS, DAY_MS) !== isFirst) wrong += 1;
    }
    expect(wrong).toBe(0);
  }
  expect(clicks.size).toBe(30_000);
  expect(clicks.bytes).toBeLessThan(4_000_000);
});

test("past its bound the oldest visits of the largest offer are forgotten, counted and reported (#3)", () => {
  const reports: ForgottenVisits[] = [];
  const clicks = new UniqueClicks({
    entriesMax: 2_000,
    retentionMs: DAY_MS,
    onForgotten: (of) => reports.push(of),
  });
  const small = { ...visit, offerId: 8 };
  for (let i = 0; i < 300; i += 1)
    clicks.take({ ...small, visitor: i }, START_MS - HOUR_MS + i, DAY_MS);
  for (let i = 0; i < 20_000; i += 1) clicks.take({ ...visit, visitor: i }, START_MS + i, DAY_MS);
  expect(clicks.size).toBeLessThanOrEqual(2_000);
  expect(clicks.size + clicks.forgotten).toBe(20_300);
  expect(reports.reduce((sum, { visits }) => sum + visits, 0)).toBe(clicks.forgotten);
  const last = reports.at(-1);
  expect(last?.offerId).toBe(visit.offerId);
  expect(clicks.oldestMs).toBe(START_MS - HOUR_MS);
  const nowMs = START_MS + 20_000;
  // A flood on one offer takes nothing from another.
  for (let i = 0; i < 300; i += 1)
    expect(clicks.take({ ...small, visitor: i }, nowMs, DAY_MS)).toBe(false);
  const knownFrom = (last?.knownFromMs ?? 0) - START_MS;
  for (let i = knownFrom; i < 20_000; i += 1) {
    expect(clicks.take({ ...visit, visitor: i }, nowMs, DAY_MS)).toBe(false);
  }
  expect(clicks.take({ ...visit, visitor: knownFrom - 1 }, nowMs, DAY_MS)).toBe(true);
});

test("forgetting visits costs the same for many large offers as for one (#3, P40)", () => {
  const fill = (offers: number) => (): void => {
    const clicks = uniques(50_000);
    for (let i = 0; i < 60_000; i += 1)
      clicks.take({ ...visit, offerId: 1 + (i % offers), visitor: i }, START_MS + i, DAY_MS);
    expect(clicks.forgotten).toBeGreaterThan(0);
  };
  expect(processorTimeRatio({ usual: fill(1), other: fill(300) }, 3)).toBeLessThan(3);
});

test("a large table makes room in turns between many clicks, and forgets the oldest visits (#19)", () => {
  const entriesMax = 320_000;
  const reports: ForgottenVisits[] = [];
  const clicks = new UniqueClicks({
    entriesMax,
    retentionMs: DAY_MS,
    onForgotten: (of) => reports.push(of),
  });
  let taken = 0;
  const takeNew = (): boolean => {
    taken += 1;
    return clicks.take({ ...visit, visitor: taken }, START_MS + taken, DAY_MS);
  };
  let wrong = 0;
  while (reports.length === 0 && taken < 2 * entriesMax) if (!takeNew()) wrong += 1;
  const more = taken - entriesMax;
  expect(wrong).toBe(0);
  // A sixteenth of the work at once, and the rest before a thirty-second of the visits was added.
  expect(more).toBeGreaterThan(5_000);
  expect(more).toBeLessThanOrEqual(entriesMax / 32 + 1_000);
  expect(clicks.size + clicks.forgotten).toBe(taken);
  expect(reports).toMatchObject([{ visits: clicks.forgotten, offerId: visit.offerId }]);
  expect(clicks.size).toBeLessThanOrEqual(0.75 * entriesMax + more);
  const knownFrom = (reports[0]?.knownFromMs ?? 0) - START_MS;
  expect(knownFrom).toBe(clicks.forgotten + 1);
  for (let visitor = knownFrom; visitor <= taken; visitor += 1)
    if (clicks.take({ ...visit, visitor }, START_MS + taken, DAY_MS)) wrong += 1;
  expect(wrong).toBe(0);
  const isUnique = clicks.take({ ...visit, visitor: knownFrom - 1 }, START_MS + taken, DAY_MS);
  expect(isUnique).toBe(true);
});

test("visits of one millisecond are forgotten by number, so that the table has room again (#3)", () => {
  const clicks = uniques(2_000);
  for (let i = 0; i < 2_001; i += 1) clicks.take({ ...visit, visitor: i }, START_MS, DAY_MS);
  expect(clicks.size).toBe(1_500);
  expect(clicks.forgotten).toBe(501);
});

test("visits that expire make room for as many new ones, at the cost of a table with free room (#3)", () => {
  const windowMs = 5_000;
  const run = (entriesMax: number) => (): void => {
    const clicks = new UniqueClicks({ entriesMax, retentionMs: windowMs });
    for (let i = 0; i < 15_000; i += 1)
      clicks.take({ ...visit, visitor: i }, START_MS + i, windowMs);
    expect(clicks.forgotten).toBe(0);
    expect(clicks.size).toBeGreaterThanOrEqual(windowMs);
  };
  expect(processorTimeRatio({ usual: run(1_000_000), other: run(windowMs + 1) }, 4)).toBeLessThan(
    4,
  );
});

test("a table that is just full has at most 1.6 % expired visits more", () => {
  const clicks = new UniqueClicks({ entriesMax: 2_001, retentionMs: 2_000 });
  let most = 0;
  for (let i = 0; i < 6_000; i += 1) {
    clicks.take({ ...visit, visitor: i }, START_MS + i, 2_000);
    most = Math.max(most, clicks.size);
  }
  expect(most).toBeLessThanOrEqual(2_001 * (1 + 1 / 64) + 1);
  expect(clicks.forgotten).toBe(0);
});

test("a click read from the table counts like a click from the stream", () => {
  const clicks = uniques();
  clicks.remember(visit, START_MS);
  clicks.remember(visit, START_MS - HOUR_MS);
  expect(clicks.take(visit, START_MS + 23 * HOUR_MS, DAY_MS)).toBe(false);
});

describe("a clock that was ahead and went back (#11)", () => {
  const AHEAD = [HOUR_MS, 30 * HOUR_MS, 400 * DAY_MS];
  /** Sets all clocks to the time of each click. */
  const at = (clicks: UniqueClicks, nowMs: number): number => {
    clicks.clocks = { ownMs: nowMs, newestMs: nowMs };
    return nowMs;
  };

  test("pays no visitor twice, however far ahead it was", () => {
    for (const aheadMs of AHEAD) {
      const clicks = uniques();
      expect(clicks.take(visit, at(clicks, START_MS + aheadMs), DAY_MS)).toBe(true);
      let paid = 0;
      for (let minute = 0; minute < 24 * 60; minute += 10) {
        if (clicks.take(visit, at(clicks, START_MS + minute * 60_000), DAY_MS)) paid += 1;
      }
      expect(paid).toBe(0);
    }
  });

  test("drops no visit that still counts when the table grows while one producer is ahead", () => {
    const clicks = uniques();
    clicks.take(visit, at(clicks, START_MS), DAY_MS);
    clicks.clocks = { ownMs: START_MS, newestMs: START_MS + 30 * HOUR_MS };
    for (let visitor = 0; visitor < 5_000; visitor += 1)
      clicks.take({ ...visit, visitor }, START_MS + 30 * HOUR_MS, DAY_MS);
    expect(clicks.take(visit, at(clicks, START_MS + HOUR_MS), DAY_MS)).toBe(false);
  });

  test("a click cannot be later than every clock", () => {
    const clicks = uniques();
    at(clicks, START_MS);
    expect(clicks.take(visit, START_MS + 30 * HOUR_MS, DAY_MS)).toBe(true);
    clicks.remember({ ...visit, visitor: 1 }, START_MS + 30 * HOUR_MS);
    expect(clicks.latestMs).toBe(START_MS);
    at(clicks, START_MS + DAY_MS);
    for (const visitor of [visit.visitor, 1])
      expect(clicks.take({ ...visit, visitor }, START_MS + DAY_MS, DAY_MS)).toBe(true);
  });
});

test("clicks that come long after a later one are unique once in a window too (#11)", () => {
  const clicks = uniques();
  const ago = (hours: number): number => START_MS - hours * HOUR_MS;
  expect(clicks.take(visit, START_MS, DAY_MS)).toBe(true);
  expect(clicks.take(visit, ago(30), DAY_MS)).toBe(true);
  for (const hours of [30, 29, 28, 20, 10, 0])
    expect(clicks.take(visit, ago(hours), DAY_MS)).toBe(false);
});

test("clicks that come after their whole window are unique once, also while the table makes room (#11)", () => {
  const clicks = uniques();
  const nowMs = START_MS + 40 * HOUR_MS;
  let visitor = 0;
  const others = (count: number): void => {
    for (const end = visitor + count; visitor < end; visitor += 1)
      clicks.take({ ...visit, visitor: 1_000_000 + visitor }, nowMs, DAY_MS);
  };
  others(5_000);
  const late = Array.from({ length: 3_000 }, (_, of) => ({ ...visit, visitor: of }));
  for (const of of late) expect(clicks.take(of, START_MS, DAY_MS)).toBe(true);
  others(20_000);
  expect(late.filter((of) => clicks.take(of, START_MS + HOUR_MS, DAY_MS))).toEqual([]);
});

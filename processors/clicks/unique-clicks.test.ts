import { expect, test } from "vitest";
import { UniqueClicks } from "./unique-clicks.ts";

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

test("thirty thousand visits are told apart, through growth of the table", () => {
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

test("the table is bounded: past its bound the oldest are forgotten and counted, the newest kept", () => {
  const clicks = uniques(2_000);
  for (let i = 0; i < 20_000; i += 1) {
    clicks.take({ ...visit, visitor: i }, START_MS + i, DAY_MS);
  }
  expect(clicks.size).toBeLessThanOrEqual(2_000);
  expect(clicks.forgotten).toBeGreaterThan(18_000 - 1);
  expect(clicks.take({ ...visit, visitor: 19_999 }, START_MS + 20_000, DAY_MS)).toBe(false);
});

test("what is remembered from the table counts like a click that was taken", () => {
  const clicks = uniques();
  clicks.remember(visit, START_MS);
  clicks.remember(visit, START_MS - HOUR_MS);
  expect(clicks.take(visit, START_MS + 23 * HOUR_MS, DAY_MS)).toBe(false);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SETTINGS } from "../../schemas/host/setting-definitions.ts";
import { nextAttemptInMs, retryAfterMs } from "./retry-schedule.ts";

const { type, default: schedule } = SETTINGS.POSTBACK_RETRY_SCHEDULE;
const RETRY_WAITS_MS = type.parse(schedule) ?? [];

const MIDDLE = 0.5;
const HOUR_MS = 3_600_000;

describe("the schedule (G126, P24)", () => {
  test.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [4, 600_000],
    [5, 1_800_000],
    [6, HOUR_MS],
    [7, 3 * HOUR_MS],
    [8, 6 * HOUR_MS],
    [9, 12 * HOUR_MS],
    [10, 24 * HOUR_MS],
    [11, 24 * HOUR_MS],
    [12, undefined],
    [13, undefined],
  ])("after attempt %i comes the next one in %s ms", (attempts, waitMs) => {
    const next = { waitsMs: RETRY_WAITS_MS, attempts, retryAfterMs: 0, random: MIDDLE };
    expect(nextAttemptInMs(next)).toBe(waitMs);
  });

  test("twelve attempts take about 71 hours", () => {
    expect(RETRY_WAITS_MS.length + 1).toBe(12);
    const hours = RETRY_WAITS_MS.reduce((sum, waitMs) => sum + waitMs, 0) / HOUR_MS;
    expect(hours).toBeGreaterThan(70);
    expect(hours).toBeLessThan(72);
  });

  test("a wait is jittered by at most a fifth, both ways", () => {
    const wait = (random: number): number | undefined =>
      nextAttemptInMs({ waitsMs: [10_000], attempts: 1, retryAfterMs: 0, random });
    expect([wait(0), wait(1)]).toEqual([8_000, 12_000]);
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
        expect(wait(random)).toBeGreaterThanOrEqual(8_000);
        expect(wait(random)).toBeLessThanOrEqual(12_000);
      }),
    );
  });

  test.each([
    ["later than the schedule", 60_000, 60_000],
    ["sooner than the schedule", 1_000, 5_000],
    ["beyond a day", 100 * HOUR_MS, 24 * HOUR_MS],
  ])("Retry-After %s: %i ms asked, %i ms waited", (_name, asked, waited) => {
    const next = { waitsMs: RETRY_WAITS_MS, attempts: 1, retryAfterMs: asked, random: MIDDLE };
    expect(nextAttemptInMs(next)).toBe(waited);
  });
});

test.each([
  ["", 0],
  ["7", 7_000],
  ["0", 0],
  ["-5", 0],
  ["1.5", 0],
  ["soon", 0],
  ["Thu, 01 Jan 1970 00:01:40 GMT", 90_000],
  ["Thu, 01 Jan 1970 00:00:01 GMT", 0],
])("Retry-After %j is %i ms", (header, ms) => {
  expect(retryAfterMs(header, 10_000)).toBe(ms);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { capBucket, capBucketRange } from "./cap-bucket.ts";
import { CAP_PERIODS } from "./records.ts";

test("each period begins where the workspace's clocks say", () => {
  const at = Date.UTC(2026, 0, 31, 18, 30);
  const before = at - 1;
  for (const period of ["hourly", "daily", "weekly", "monthly"] as const) {
    const crossed =
      capBucket(period, "Asia/Kolkata", at) !== capBucket(period, "Asia/Kolkata", before);
    // In Kolkata it is midnight from Saturday to Sunday, 1 February.
    expect(crossed, period).toBe(period !== "weekly");
  }
  expect(capBucket("weekly", "UTC", Date.UTC(2026, 5, 8))).not.toBe(
    capBucket("weekly", "UTC", Date.UTC(2026, 5, 7)),
  );
  expect(capBucket("total", "UTC", at)).toBe(capBucket("total", "UTC", 0));
});

test("the range of a period holds every instant of its bucket and no other", () => {
  const zones = [
    "UTC",
    "Asia/Kolkata",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...CAP_PERIODS),
      fc.constantFrom(...zones),
      fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 0, 1) }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (period, zone, atMs, share) => {
        const bucket = capBucket(period, zone, atMs);
        const { fromMs, toMs } = capBucketRange(period, zone, atMs);
        expect(atMs).toBeGreaterThanOrEqual(fromMs);
        expect(atMs).toBeLessThan(toMs);
        const inside = Math.min(toMs - 1, Math.floor(fromMs + (toMs - fromMs) * share));
        expect(capBucket(period, zone, inside)).toBe(bucket);
        if (period === "total") return;
        expect(capBucket(period, zone, fromMs)).toBe(bucket);
        expect(capBucket(period, zone, toMs - 1)).toBe(bucket);
        expect(capBucket(period, zone, fromMs - 1)).toBeLessThan(bucket);
        expect(capBucket(period, zone, toMs)).toBeGreaterThan(bucket);
      },
    ),
  );
});

test("on the day on which clocks are put back, the hour that is shown twice is one", () => {
  // 25 October 2026 in Berlin: 02:30 is shown at 00:30 and at 01:30 UTC.
  const twice = [Date.UTC(2026, 9, 25, 0, 30), Date.UTC(2026, 9, 25, 1, 30)] as const;
  const range = { fromMs: Date.UTC(2026, 9, 25), toMs: Date.UTC(2026, 9, 25, 2) };
  for (const at of twice) expect(capBucketRange("hourly", "Europe/Berlin", at)).toEqual(range);
});

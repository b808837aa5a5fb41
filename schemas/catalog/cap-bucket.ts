import { dayOf, mondayOf, yearMonthOf } from "../time/calendar.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, zoneOf } from "../time/zone.ts";
import type { CapPeriod } from "./records.ts";

/**
 * The number of the period that contains an instant. It only grows, and is compared for equality. For "hourly", the hour that
 * repeats when clocks go back counts as one period.
 */
export function capBucket(period: CapPeriod, timezone: string, atMs: number): number {
  return period === "total" ? 0 : bucketsAt(timezone, atMs)[period];
}

/** Start (inclusive) and end (exclusive) of the period, UTC ms. "total" is all time. */
export function capBucketRange(
  period: CapPeriod,
  timezone: string,
  atMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  if (period === "total") return { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  const zone = zoneOf(timezone);
  const instantOf = (localMs: number): number =>
    zone === undefined ? localMs : zone.instantOf(localMs);
  const bucket = capBucket(period, timezone, atMs);
  const [from, to] = localBounds(period, bucket);
  return { fromMs: instantOf(from), toMs: instantOf(to) };
}

function localBounds(period: Exclude<CapPeriod, "total">, bucket: number): [number, number] {
  switch (period) {
    case "hourly":
      return [bucket * HOUR_MS, (bucket + 1) * HOUR_MS];
    case "daily":
      return [bucket * DAY_MS, (bucket + 1) * DAY_MS];
    case "weekly":
      return [bucket * DAY_MS, (bucket + 7) * DAY_MS];
    case "monthly": {
      // The bucket is 12 years and a month that counts from 1.
      const year = Math.floor((bucket - 1) / 12);
      const month = bucket - year * 12;
      return [dayOf(year, month, 1) * DAY_MS, dayOf(year, month + 1, 1) * DAY_MS];
    }
  }
}

type Buckets = { readonly minute: number } & Readonly<Record<Exclude<CapPeriod, "total">, number>>;

/** The newest buckets by time zone; there are a few hundred zones. Clocks change on full minutes. */
const newestBuckets = new Map<string, Buckets>();

function bucketsAt(timezone: string, atMs: number): Buckets {
  const minute = Math.floor(atMs / MINUTE_MS);
  const newest = newestBuckets.get(timezone);
  if (newest?.minute === minute) return newest;
  const zone = zoneOf(timezone);
  const localMs = zone === undefined ? atMs : zone.localMsAt(atMs);
  const day = Math.floor(localMs / DAY_MS);
  const { year, month } = yearMonthOf(day);
  const buckets = {
    minute,
    hourly: Math.floor(localMs / HOUR_MS),
    daily: day,
    weekly: mondayOf(day),
    monthly: year * 12 + month,
  };
  newestBuckets.set(timezone, buckets);
  return buckets;
}

import { formatDay } from "../../schemas/time/calendar.ts";
import type { TimeRange } from "../../schemas/time/range.ts";
import { HOUR_MS, type Zone } from "../../schemas/time/zone.ts";

/** Every day of a range in its zone, ascending (TS-003). */
export function dayBuckets({ fromMs, toMs, zone }: TimeRange): string[] {
  const [first, last] = [zone.dayAt(fromMs), zone.dayAt(toMs)];
  return Array.from({ length: last - first + 1 }, (_, index) => formatDay(first + index));
}

/**
 * Every hour of the wall clock that a range touches, identified by the instant at which it begins (G80). An hour that the clock
 * shows twice is two buckets; an hour that it skips is none.
 */
export function hourBuckets({ fromMs, toMs, zone }: TimeRange): string[] {
  const starts = new Set<number>();
  const segments = zone.segments(fromMs, toMs);
  for (const [index, segment] of segments.entries()) {
    const endMs = segments[index + 1]?.fromMs ?? toMs + 1;
    const firstMs = hourStartMs(zone, segment.fromMs);
    for (let startMs = firstMs; startMs < endMs; startMs += HOUR_MS) starts.add(startMs);
  }
  return [...starts].sort((a, b) => a - b).map((startMs) => new Date(startMs).toISOString());
}

/** Uses the offset at the instant itself, like the statement of a report. */
function hourStartMs(zone: Zone, atMs: number): number {
  const offsetMs = zone.offsetMsAt(atMs);
  return Math.floor((atMs + offsetMs) / HOUR_MS) * HOUR_MS - offsetMs;
}

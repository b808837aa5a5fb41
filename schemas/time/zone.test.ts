import fc from "fast-check";
import { expect, test } from "vitest";
import { dayOf, formatDay } from "./calendar.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, type Zone, zoneOf } from "./zone.ts";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "America/St_Johns",
  "Pacific/Chatham",
  "Pacific/Apia",
  "America/Havana",
  "America/Asuncion",
  "Africa/Cairo",
  "Asia/Beirut",
] as const;

const anyZone = fc.constantFrom(...ZONES).map(zone);
const anyInstant = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2040, 0, 1) });

function zone(name: string): Zone {
  const found = zoneOf(name);
  if (found === undefined) throw new Error(`no zone ${name}`);
  return found;
}

test("a zone keeps the name that was asked for, in its usual case", () => {
  expect(zoneOf("europe/berlin")?.name).toBe("Europe/Berlin");
  expect(zoneOf("Asia/Kolkata")?.name).toBe("Asia/Kolkata");
  expect(zoneOf("UTC")?.name).toBe("UTC");
  expect(zoneOf("utc")?.name).toBe("UTC");
});

test("spellings of an alias share a clock, so they take no memory, however many are asked for (P40)", () => {
  const spelled = (n: number): string =>
    "america/buenos_aires"
      .split("")
      .map((letter, at) => (((n >> at) & 1) === 1 ? letter.toUpperCase() : letter))
      .join("");
  zone(spelled(0));
  const before = process.memoryUsage.rss();
  for (let n = 1; n <= 12_000; n += 1) zone(spelled(n)).offsetMsAt(Date.UTC(2025, 0, 15));
  expect((process.memoryUsage.rss() - before) / 1024 ** 2).toBeLessThan(32);
});

test("changes of a clock less than a week apart are found", () => {
  const gaza = zone("Asia/Gaza");
  const segments = gaza.segments(Date.UTC(2040, 8, 1), Date.UTC(2040, 11, 1));
  for (let atMs = Date.UTC(2040, 8, 1); atMs < Date.UTC(2040, 11, 1); atMs += HOUR_MS) {
    const shown = new Intl.DateTimeFormat("en-US", {
      timeZone: "Asia/Gaza",
      hourCycle: "h23",
      hour: "numeric",
    }).format(atMs);
    const segment = segments.findLast(({ fromMs }) => fromMs <= atMs);
    expect(new Date(atMs + (segment?.offsetMs ?? 0)).getUTCHours()).toBe(Number(shown));
  }
});

test.each(["", "Mars/Base", "+05:30", "Europe/Berlin ", "Europe/Berlin'", "a".repeat(65)])(
  "%j is no zone",
  (name) => {
    expect(zoneOf(name)).toBeUndefined();
  },
);

test("offsets of half and three quarters of an hour are known", () => {
  const atMs = Date.UTC(2025, 0, 15);
  expect(zone("Asia/Kolkata").offsetMsAt(atMs)).toBe(5.5 * HOUR_MS);
  expect(zone("Asia/Kathmandu").offsetMsAt(atMs)).toBe(5.75 * HOUR_MS);
  expect(zone("Pacific/Chatham").offsetMsAt(atMs)).toBe(13.75 * HOUR_MS);
  expect(zone("Australia/Lord_Howe").offsetMsAt(Date.UTC(2025, 6, 1))).toBe(10.5 * HOUR_MS);
});

test.each([
  ["Europe/Berlin", "2025-03-30", 23],
  ["Europe/Berlin", "2025-10-26", 25],
  ["Europe/Berlin", "2025-10-27", 24],
  ["Australia/Lord_Howe", "2025-04-06", 24.5],
  ["America/Havana", "2025-03-09", 23],
  ["America/Havana", "2025-11-02", 25],
] as const)("%s has on %s a day of %d hours (T71)", (name, date, hours) => {
  const day = Date.parse(date) / DAY_MS;
  expect(zone(name).startOfDayMs(day + 1) - zone(name).startOfDayMs(day)).toBe(hours * HOUR_MS);
});

test("a day without a midnight begins where the one before ends", () => {
  const start = zone("America/Havana").startOfDayMs(dayOf(2025, 3, 9));
  expect(new Date(start).toISOString()).toBe("2025-03-09T05:00:00.000Z");
  expect(zone("America/Havana").dayAt(start - 1)).toBe(dayOf(2025, 3, 8));
});

test("a wall-clock time in a gap is as much later as the gap is long, in a fold it is the first", () => {
  const berlin = zone("Europe/Berlin");
  const gap = berlin.instantOf(Date.UTC(2025, 2, 30, 2, 30));
  expect(new Date(gap).toISOString()).toBe("2025-03-30T01:30:00.000Z");
  const fold = berlin.instantOf(Date.UTC(2025, 9, 26, 2, 30));
  expect(new Date(fold).toISOString()).toBe("2025-10-26T00:30:00.000Z");
});

test("the offset at any instant is the one that the platform shows", () => {
  const clocks = new Map<string, Intl.DateTimeFormat>(
    ZONES.map((timeZone) => [
      zone(timeZone).name,
      new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }),
    ]),
  );
  fc.assert(
    fc.property(anyZone, anyInstant, (place, atMs) => {
      const whole = Math.floor(atMs / 1000) * 1000;
      const shown = clocks.get(place.name)?.format(whole);
      expect(new Date(place.localMsAt(whole)).toISOString().slice(0, 19).replace("T", " ")).toBe(
        shown,
      );
    }),
    { numRuns: 300 },
  );
});

test("every instant lies in its day, and days follow each other without a gap", () => {
  fc.assert(
    fc.property(anyZone, anyInstant, (place, atMs) => {
      const day = place.dayAt(atMs);
      const [start, next] = [place.startOfDayMs(day), place.startOfDayMs(day + 1)];
      expect(start, formatDay(day)).toBeLessThanOrEqual(atMs);
      expect(next, formatDay(day)).toBeGreaterThan(atMs);
    }),
    { numRuns: 300 },
  );
});

test("what the wall clock shows leads back to a time at which it shows it", () => {
  fc.assert(
    fc.property(anyZone, anyInstant, (place, atMs) => {
      const back = place.instantOf(place.localMsAt(atMs));
      expect(place.localMsAt(back)).toBe(place.localMsAt(atMs));
      expect(back).toBeLessThanOrEqual(atMs);
    }),
    { numRuns: 300 },
  );
});

test("segments give every instant of a range the offset of its zone", () => {
  fc.assert(
    fc.property(anyZone, anyInstant, anyInstant, (place, a, b) => {
      const [fromMs, toMs] = [Math.min(a, b), Math.max(a, b)];
      const segments = place.segments(fromMs, toMs);
      expect(segments[0]?.fromMs).toBe(fromMs);
      for (const [index, { fromMs: startMs, offsetMs }] of segments.entries()) {
        const endMs = segments[index + 1]?.fromMs ?? toMs + 1;
        for (const atMs of [startMs, endMs - 1]) expect(place.offsetMsAt(atMs)).toBe(offsetMs);
      }
      const probe = fromMs + Math.floor((toMs - fromMs) / 3 / MINUTE_MS) * MINUTE_MS;
      const offset = segments.findLast((segment) => segment.fromMs <= probe)?.offsetMs;
      expect(offset).toBe(place.offsetMsAt(probe));
    }),
    { numRuns: 100 },
  );
});

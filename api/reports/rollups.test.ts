import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { zoneOf } from "../../schemas/time/zone.ts";
import { words } from "../../test/samples/words.ts";
import type { TimeKind } from "./dimensions.ts";
import { type Piece, piecesOf, ROLLUPS, type Span } from "./rollups.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FEBRUARY = Date.UTC(2025, 1, 1);

function pieces(
  span: Span,
  columns: readonly string[],
  times: readonly TimeKind[] = [],
  tz = "UTC",
) {
  const segments = zoneOf(tz)?.segments(span.fromMs, span.toMs) ?? [];
  return piecesOf("click", span, { columns, times, segments, mayMove: true });
}

describe("how a range is read", () => {
  test("whole days by days, the half hours at both ends by half hours, the rest row by row", () => {
    const span = { fromMs: FEBRUARY + 3 * HOUR - 60_000, toMs: FEBRUARY + 3 * DAY + 5 * HOUR };
    expect(pieces(span, ["offer_id"])).toEqual([
      {
        grainMs: DAY,
        spans: [{ fromMs: FEBRUARY + DAY, toMs: FEBRUARY + 3 * DAY - 1 }],
        dated: "zone",
      },
      {
        grainMs: HOUR / 2,
        spans: [
          { fromMs: FEBRUARY + 3 * HOUR, toMs: FEBRUARY + DAY - 1 },
          { fromMs: FEBRUARY + 3 * DAY, toMs: FEBRUARY + 3 * DAY + 5 * HOUR - 1 },
        ],
        dated: "zone",
      },
      {
        grainMs: undefined,
        spans: [
          { fromMs: FEBRUARY + 3 * HOUR - 60_000, toMs: FEBRUARY + 3 * HOUR - 1 },
          { fromMs: FEBRUARY + 3 * DAY + 5 * HOUR, toMs: FEBRUARY + 3 * DAY + 5 * HOUR },
        ],
        dated: "zone",
      },
    ]);
  });

  test("row by row where no rollup has a column, or not all of them together", () => {
    const span = { fromMs: FEBRUARY, toMs: FEBRUARY + DAY - 1 };
    const rows = [{ grainMs: undefined, spans: [span], dated: "zone" }];
    expect(pieces(span, ["sub1"])).toEqual(rows);
    expect(pieces(span, ["ext_campaign_id", "os"])).toEqual(rows);
    expect(pieces(span, ["ext_campaign_id"])).toEqual([
      { grainMs: DAY, spans: [span], dated: "zone" },
    ]);
  });

  test.each([
    ["UTC", "date", [DAY]],
    ["Europe/Berlin", "date", [DAY, HOUR / 2, HOUR / 2]],
    ["Asia/Kolkata", "week", [DAY, HOUR / 2, HOUR / 2]],
    ["Asia/Kathmandu", "date", [DAY, HOUR / 2, undefined, undefined]],
    ["Australia/Lord_Howe", "month", [DAY, HOUR / 2, HOUR / 2]],
    ["Europe/Berlin", "hour", [HOUR / 2]],
    ["UTC", "hour", [HOUR / 2]],
    ["Asia/Kathmandu", "hour", [undefined]],
  ] as const)("days of %s by %s are read in steps of %j", (tz, kind, grains) => {
    const span = { fromMs: Date.UTC(2025, 2, 1), toMs: Date.UTC(2025, 4, 1) - HOUR };
    const read = pieces(span, ["offer_id"], [kind], tz).map(({ grainMs }) => grainMs);
    expect(read.slice(0, grains.length)).toEqual(grains);
  });

  test("without half hours, days of a zone by days of UTC, and rows of another day moved", () => {
    const days = { fromMs: FEBRUARY + DAY, toMs: FEBRUARY + 3 * DAY - 1 };
    const span = { fromMs: FEBRUARY + 5 * HOUR, toMs: FEBRUARY + 3 * DAY + 5 * HOUR - 1 };
    expect(pieces(span, ["os"], ["date"], "America/New_York")).toEqual([
      { grainMs: DAY, spans: [days], dated: "utc" },
      {
        grainMs: undefined,
        spans: [
          { fromMs: FEBRUARY + DAY, toMs: FEBRUARY + DAY + 5 * HOUR - 1 },
          { fromMs: FEBRUARY + 2 * DAY, toMs: FEBRUARY + 2 * DAY + 5 * HOUR - 1 },
        ],
        dated: "moved",
      },
      {
        grainMs: undefined,
        spans: [
          { fromMs: span.fromMs, toMs: FEBRUARY + DAY - 1 },
          { fromMs: FEBRUARY + 3 * DAY, toMs: span.toMs },
        ],
        dated: "zone",
      },
    ]);
  });

  test("a quarter of an hour of the moved rows is read row by row, if the zone's offset has one", () => {
    const span = { fromMs: FEBRUARY, toMs: FEBRUARY + DAY - 1 };
    const fromMs = FEBRUARY + 18 * HOUR + HOUR / 4;
    expect(pieces(span, ["offer_id"], ["month"], "Asia/Kathmandu")).toEqual([
      { grainMs: DAY, spans: [span], dated: "utc" },
      {
        grainMs: HOUR / 2,
        spans: [{ fromMs: fromMs + HOUR / 4, toMs: span.toMs }],
        dated: "moved",
      },
      {
        grainMs: undefined,
        spans: [{ fromMs, toMs: fromMs + HOUR / 4 - 1 }],
        dated: "moved",
      },
    ]);
  });

  test("hours, rows judged by their day, and very long ranges are not moved", () => {
    const span = { fromMs: FEBRUARY, toMs: FEBRUARY + 2 * DAY - 1 };
    const rows = [{ grainMs: undefined, spans: [span], dated: "zone" }];
    const tz = "America/New_York";
    expect(pieces(span, ["os"], ["date", "hour"], tz)).toEqual(rows);
    const segments = zoneOf(tz)?.segments(span.fromMs, span.toMs) ?? [];
    const asked = { columns: ["os"], times: ["date"] as const, segments, mayMove: false };
    expect(piecesOf("click", span, asked)).toEqual(rows);
    const year = { fromMs: FEBRUARY, toMs: FEBRUARY + 365 * DAY - 1 };
    expect(pieces(year, ["os"], ["date"], tz)).toEqual([
      { grainMs: undefined, spans: [year], dated: "zone" },
    ]);
  });

  const COLUMNS = [...new Set(ROLLUPS.click?.flatMap(({ columns }) => [...columns])), "sub1"];
  const ZONES = words(`
  UTC Europe/Berlin America/New_York Asia/Kolkata Asia/Kathmandu Australia/Lord_Howe
  Pacific/Chatham Pacific/Kiritimati Europe/London
`);

  test("every instant of a range counts once, and on the zone's day", () => {
    // Clocks change in Berlin and London on 30 March, in Lord Howe and Chatham on 6 April, in New York on 9 March.
    const at = fc.integer({ min: Date.UTC(2025, 2, 5), max: Date.UTC(2025, 3, 10) });
    fc.assert(
      fc.property(
        fc.record({
          ends: fc.tuple(at, at),
          names: fc.subarray(COLUMNS, { maxLength: 4 }),
          kinds: fc.subarray<TimeKind>(["date", "week", "month", "hour"], { maxLength: 2 }),
          tz: fc.constantFrom(...ZONES),
          others: fc.array(at, { minLength: 5, maxLength: 5 }),
        }),
        ({ ends, names, kinds, tz, others }) => {
          const range = { fromMs: Math.min(...ends), toMs: Math.max(...ends) };
          const read = pieces(range, names, kinds, tz);
          const edges = read.flatMap(({ spans }) =>
            spans.flatMap(({ fromMs, toMs }) => [fromMs - 1, fromMs, toMs, toMs + 1]),
          );
          for (const instant of [...others, ...edges]) {
            const isIn = instant >= range.fromMs && instant <= range.toMs;
            const day = dayOf(instant, tz);
            expect(countsOn(read, instant, tz), `${instant}`).toEqual(isIn ? [[day, 1]] : []);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test("spans that are read in steps begin and end with one", () => {
    const at = fc.integer({ min: Date.UTC(2025, 2, 5), max: Date.UTC(2025, 3, 10) });
    fc.assert(
      fc.property(at, at, fc.constantFrom(...ZONES), (a, b, tz) => {
        const range = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
        for (const { grainMs = 1, spans } of pieces(range, ["offer_id"], ["date"], tz)) {
          for (const { fromMs, toMs } of spans)
            expect([fromMs % grainMs, (toMs + 1) % grainMs]).toEqual([0, 0]);
        }
      }),
    );
  });
});

/** Days since 1970, of the zone or of UTC, on which an instant counts, and how often. */
function countsOn(read: readonly Piece[], instant: number, tz: string): [number, number][] {
  const counts = new Map<number, number>();
  const add = (day: number, count: number) => counts.set(day, (counts.get(day) ?? 0) + count);
  for (const { spans, dated } of read) {
    for (const { fromMs, toMs } of spans) {
      if (instant < fromMs || instant > toMs) continue;
      if (dated !== "zone") add(dayOf(instant, "UTC"), dated === "utc" ? 1 : -1);
      if (dated !== "utc") add(dayOf(instant, tz), 1);
    }
  }
  return [...counts].filter(([, count]) => count !== 0);
}

function dayOf(instant: number, tz: string): number {
  return Math.floor((zoneOf(tz)?.localMsAt(instant) ?? Number.NaN) / DAY);
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { zoneOf } from "../../schemas/time/zone.ts";
import type { TimeKind } from "./dimensions.ts";
import { piecesOf, ROLLUPS, type Span } from "./rollups.ts";

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
  return piecesOf("click", span, { columns, times, segments });
}

describe("how a range is read", () => {
  test("whole days by days, the half hours at both ends by half hours, the rest row by row", () => {
    const span = { fromMs: FEBRUARY + 3 * HOUR - 60_000, toMs: FEBRUARY + 3 * DAY + 5 * HOUR };
    expect(pieces(span, ["offer_id"])).toEqual([
      { grainMs: DAY, spans: [{ fromMs: FEBRUARY + DAY, toMs: FEBRUARY + 3 * DAY - 1 }] },
      {
        grainMs: HOUR / 2,
        spans: [
          { fromMs: FEBRUARY + 3 * HOUR, toMs: FEBRUARY + DAY - 1 },
          { fromMs: FEBRUARY + 3 * DAY, toMs: FEBRUARY + 3 * DAY + 5 * HOUR - 1 },
        ],
      },
      {
        grainMs: undefined,
        spans: [
          { fromMs: FEBRUARY + 3 * HOUR - 60_000, toMs: FEBRUARY + 3 * HOUR - 1 },
          { fromMs: FEBRUARY + 3 * DAY + 5 * HOUR, toMs: FEBRUARY + 3 * DAY + 5 * HOUR },
        ],
      },
    ]);
  });

  test("row by row where no rollup knows a column, or not all of them together", () => {
    const span = { fromMs: FEBRUARY, toMs: FEBRUARY + DAY - 1 };
    const rows = [{ grainMs: undefined, spans: [span] }];
    expect(pieces(span, ["sub1"])).toEqual(rows);
    expect(pieces(span, ["ext_campaign_id", "os"])).toEqual(rows);
    expect(pieces(span, ["ext_campaign_id"])).toEqual([{ grainMs: DAY, spans: [span] }]);
  });

  test.each([
    ["UTC", "date", DAY],
    ["Europe/Berlin", "date", HOUR / 2],
    ["Asia/Kolkata", "week", HOUR / 2],
    ["Asia/Kathmandu", "date", undefined],
    ["Australia/Lord_Howe", "month", HOUR / 2],
    ["UTC", "hour", HOUR / 2],
  ] as const)("days of %s by %s are read in steps of %s", (tz, kind, grainMs) => {
    const span = { fromMs: Date.UTC(2025, 2, 1), toMs: Date.UTC(2025, 4, 1) - 1 };
    expect(pieces(span, ["offer_id"], [kind], tz)[0]?.grainMs).toBe(grainMs);
  });

  test("every instant of a range is in exactly one span", () => {
    const instants = fc.integer({ min: FEBRUARY, max: FEBRUARY + 5 * DAY });
    const columns = fc.subarray([...(ROLLUPS.click?.[0]?.columns ?? []), "sub1"], { maxLength: 4 });
    fc.assert(
      fc.property(instants, instants, columns, (a, b, names) => {
        const range = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
        const spans = pieces(range, names).flatMap((piece) => piece.spans);
        spans.sort((one, other) => one.fromMs - other.fromMs);
        let nextMs = range.fromMs;
        for (const span of spans) {
          expect(span.fromMs).toBe(nextMs);
          expect(span.toMs).toBeGreaterThanOrEqual(span.fromMs);
          nextMs = span.toMs + 1;
        }
        expect(nextMs).toBe(range.toMs + 1);
      }),
    );
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { formatDay } from "../time/calendar.ts";
import { DAY_MS, type Zone, zoneOf } from "../time/zone.ts";
import { dueDay, PAYMENT_TERMS, type PaymentTerms, periodAt, periodFrom } from "./periods.ts";

const zone = (name: string): Zone => {
  const found = zoneOf(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland", "Africa/Cairo"];
const WITH_PERIODS = PAYMENT_TERMS.filter((terms) => terms !== "on_request");
const anInstant = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) });

test.each<[PaymentTerms, string, string, string, string]>([
  ["monthly", "2026-02-10", "2026-02-01", "2026-02-28", "2026-02-28"],
  ["net7", "2024-02-29", "2024-02-01", "2024-02-29", "2024-03-07"],
  ["net30", "2026-01-31", "2026-01-01", "2026-01-31", "2026-03-02"],
  ["net60", "2026-12-01", "2026-12-01", "2026-12-31", "2027-03-01"],
  ["weekly", "2026-03-29", "2026-03-23", "2026-03-29", "2026-03-29"],
  ["biweekly", "2024-01-14", "2024-01-01", "2024-01-14", "2024-01-14"],
  ["biweekly", "2024-01-15", "2024-01-15", "2024-01-28", "2024-01-28"],
  ["biweekly", "2023-12-31", "2023-12-18", "2023-12-31", "2023-12-31"],
])("%s on %s is the period from %s to %s, due on %s (N47)", (terms, day, ...expected) => {
  const berlin = zone("Europe/Berlin");
  const atMs = berlin.instantOf(Date.parse(`${day}T23:59:59.999Z`));
  const period = periodAt(terms, berlin, atMs);
  expect(period).toBeDefined();
  if (period === undefined) return;
  expect([
    formatDay(berlin.dayAt(period.fromMs)),
    formatDay(berlin.dayAt(period.toMs - 1)),
    dueDay(terms, berlin, period.toMs),
  ]).toEqual(expected);
});

test("periods adjoin in every zone, also where clocks change, and contain their instants (N47)", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...WITH_PERIODS),
      fc.constantFrom(...ZONES),
      anInstant,
      (terms, name, atMs) => {
        const period = periodAt(terms, zone(name), atMs);
        if (period === undefined) return false;
        const next = periodAt(terms, zone(name), period.toMs);
        const before = periodAt(terms, zone(name), period.fromMs - 1);
        return (
          period.fromMs <= atMs &&
          atMs < period.toMs &&
          next?.fromMs === period.toMs &&
          before?.toMs === period.fromMs
        );
      },
    ),
  );
});

test("new terms take effect with the next period, and no time is in two periods or in none (N47)", () => {
  const utc = zone("UTC");
  const at = (day: string): number => Date.parse(`${day}T12:00:00Z`);
  const history = {
    now: "weekly",
    changes: [{ atMs: at("2026-01-20"), before: "monthly" }],
  } as const;
  const january = periodFrom(history, utc, Date.parse("2026-01-01T00:00:00Z"));
  expect(january).toEqual({
    terms: "monthly",
    fromMs: Date.parse("2026-01-01T00:00:00Z"),
    toMs: Date.parse("2026-02-01T00:00:00Z"),
  });
  expect(periodFrom(history, utc, january.toMs)).toEqual({
    terms: "weekly",
    fromMs: january.toMs,
    toMs: Date.parse("2026-02-02T00:00:00Z"),
  });
  const asked = {
    now: "monthly",
    changes: [{ atMs: at("2026-03-10"), before: "on_request" }],
  } as const;
  expect(periodFrom(asked, utc, 0).toMs).toBe(Date.parse("2026-04-01T00:00:00Z"));
  expect(periodFrom({ now: "on_request", changes: [] }, utc, 0).toMs).toBe(
    Number.POSITIVE_INFINITY,
  );
});

test("any sequence of terms gives periods of at least a moment and at most 32 days (N47)", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ZONES),
      anInstant,
      fc.array(
        fc.record({
          afterMs: fc.integer({ min: 0, max: 90 * DAY_MS }),
          before: fc.constantFrom(...WITH_PERIODS),
        }),
        { maxLength: 5 },
      ),
      fc.constantFrom(...WITH_PERIODS),
      (name, startMs, steps, now) => {
        let atMs = startMs;
        const changes = steps.map(({ afterMs, before }) => ({ atMs: (atMs += afterMs), before }));
        let cursor = startMs;
        for (let index = 0; index < 30; index += 1) {
          const { fromMs, toMs } = periodFrom({ now, changes }, zone(name), cursor);
          if (fromMs !== cursor || toMs <= fromMs || toMs - fromMs > 32 * DAY_MS) return false;
          cursor = toMs;
        }
        return true;
      },
    ),
  );
});

import assert from "node:assert";
import { dayOf, formatDay, mondayOf, yearMonthOf } from "../time/calendar.ts";
import { type Zone, zoneOf } from "../time/zone.ts";

/** When a partner is paid (G56). */
export const PAYMENT_TERMS = [
  "net7",
  "net15",
  "net30",
  "net45",
  "net60",
  "weekly",
  "biweekly",
  "monthly",
  "on_request",
] as const;
export type PaymentTerms = (typeof PAYMENT_TERMS)[number];

/** From `fromMs`, before `toMs`. */
export type Period = { readonly fromMs: number; readonly toMs: number };

/** Terms that held until `atMs`. */
export type TermsChange = { readonly atMs: number; readonly before: PaymentTerms };

/** The terms of a partner over time: what they are now, and the changes before, oldest first. */
export type TermsHistory = {
  readonly now: PaymentTerms;
  readonly changes: readonly TermsChange[];
};

/** Pairs of ISO weeks are counted from this Monday (N47). */
const FIRST_PAIR = dayOf(2024, 1, 1);
const WEEK_DAYS = 7;
const NET_DAYS: Readonly<Partial<Record<PaymentTerms, number>>> = {
  net7: 7,
  net15: 15,
  net30: 30,
  net45: 45,
  net60: 60,
};

/** The period of the terms that contains an instant; undefined for terms without periods. */
export function periodAt(terms: PaymentTerms, zone: Zone, atMs: number): Period | undefined {
  const day = zone.dayAt(atMs);
  if (terms === "on_request") return undefined;
  if (terms === "weekly") return wholeDays(zone, mondayOf(day), WEEK_DAYS);
  if (terms === "biweekly") {
    const pair = Math.floor((day - FIRST_PAIR) / (2 * WEEK_DAYS));
    return wholeDays(zone, FIRST_PAIR + pair * 2 * WEEK_DAYS, 2 * WEEK_DAYS);
  }
  const { year, month } = yearMonthOf(day);
  const first = dayOf(year, month, 1);
  return wholeDays(zone, first, dayOf(year, month + 1, 1) - first);
}

/** A period with the day on which its document is due. */
export type BillingPeriod = Period & { readonly dueOn: string };

/** The period of these terms, which have periods, that contains an instant in the time zone of a workspace. */
export function periodOf(terms: PaymentTerms, atMs: number, timezone: string): BillingPeriod {
  const zone = zoneOf(timezone);
  assert(zone !== undefined, "a workspace has a time zone");
  const period = periodAt(terms, zone, atMs);
  assert(period !== undefined, `${terms} have no period`);
  return { ...period, dueOn: dueDay(terms, zone, period.toMs) };
}

/** The day on which what a period ends with is due: so many days after its last day (N47). */
export function dueDay(terms: PaymentTerms, zone: Zone, toMs: number): string {
  return formatDay(zone.dayAt(toMs - 1) + (NET_DAYS[terms] ?? 0));
}

/** Terms take effect with the next period: those of the moment at which a period begins (N47). */
export function termsAt({ now, changes }: TermsHistory, atMs: number): PaymentTerms {
  return changes.find((change) => change.atMs > atMs)?.before ?? now;
}

/**
 * The period that begins at `fromMs`, with its terms. Terms without periods end with the period in which they are changed; while they are
 * not changed, the period has no end.
 */
export function periodFrom(
  history: TermsHistory,
  zone: Zone,
  fromMs: number,
): Period & { readonly terms: PaymentTerms } {
  const terms = termsAt(history, fromMs);
  let toMs = periodAt(terms, zone, fromMs)?.toMs;
  for (const { atMs } of history.changes) {
    if (toMs !== undefined) break;
    if (atMs > fromMs) toMs = periodAt(termsAt(history, atMs), zone, atMs)?.toMs;
  }
  return { terms, fromMs, toMs: toMs ?? Number.POSITIVE_INFINITY };
}

function wholeDays(zone: Zone, day: number, days: number): Period {
  return { fromMs: zone.startOfDayMs(day), toMs: zone.startOfDayMs(day + days) };
}

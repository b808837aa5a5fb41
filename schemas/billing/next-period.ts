import type { Zone } from "../time/zone.ts";
import type { PartnerAccount } from "./partner-accounts.ts";
import { type PaymentTerms, type Period, periodAt, periodFrom, termsAt } from "./periods.ts";

/** Up to when accounts are closed. */
export type CloseLimits = {
  /** Periods that have ended by then are closed. */
  readonly endedMs: number;
  /** Besides, what there is before this instant is closed, whether or not a period ends there. */
  readonly untilMs?: number | undefined;
  /** The same for terms without periods alone. */
  readonly requestedMs?: number | undefined;
};

/** A period that may get a statement. */
export type NextPeriod = Period & { readonly terms: PaymentTerms };

/** Bounds the walk from period to period: weeks of a hundred years. */
const PERIODS_MAX = 5_300;

/**
 * The periods of an account that may get the next statement, in order: the first that does is the one. A period without entries gets one only if
 * what was carried can now be paid.
 */
export function nextPeriods(
  account: Pick<PartnerAccount, "terms" | "last" | "nextAtMs">,
  zone: Zone,
  limits: CloseLimits,
): NextPeriod[] {
  const { terms, last, nextAtMs } = account;
  const startMs = last?.periodToMs ?? firstStart(terms, zone, nextAtMs);
  if (startMs === undefined) return [];
  let period = periodFrom(terms, zone, startMs);
  let ended: NextPeriod | undefined;
  for (let walked = 0; walked < PERIODS_MAX && period.toMs <= limits.endedMs; walked += 1) {
    ended = period;
    if (nextAtMs !== undefined && nextAtMs < period.toMs) return [ended];
    period = periodFrom(terms, zone, period.toMs);
  }
  const found = ended === undefined || last === undefined ? [] : [ended];
  return [...found, ...cutPeriod(period, limits)];
}

/** The running period, if it is to end now. */
function cutPeriod(period: NextPeriod, { untilMs, requestedMs }: CloseLimits): NextPeriod[] {
  const toMs = untilMs ?? (Number.isFinite(period.toMs) ? undefined : requestedMs);
  const isWithin = toMs !== undefined && toMs > period.fromMs && toMs <= period.toMs;
  return isWithin ? [{ ...period, toMs }] : [];
}

/** The first period of an account is the one of its first entry. */
function firstStart(
  terms: PartnerAccount["terms"],
  zone: Zone,
  nextAtMs: number | undefined,
): number | undefined {
  if (nextAtMs === undefined) return undefined;
  const period = periodAt(termsAt(terms, nextAtMs), zone, nextAtMs);
  return period?.fromMs ?? zone.startOfDayMs(zone.dayAt(nextAtMs));
}

import assert from "node:assert";
import { dayOf, formatDay, mondayOf, yearMonthOf } from "../time/calendar.ts";
import { type Zone, zoneOf } from "../time/zone.ts";

/** A period of a workspace's time zone: `fromMs` is in it, `toMs` is not. */
export type BillingPeriod = {
  readonly fromMs: number;
  readonly toMs: number;
  /** The day on which its document has to be paid. */
  readonly dueOn: string;
};

const NET_DAYS: ReadonlyMap<string, number> = new Map([
  ["net7", 7],
  ["net15", 15],
  ["net30", 30],
  ["net45", 45],
  ["net60", 60],
]);
const WEEK_DAYS = 7;
const TWO_WEEKS_DAYS = 14;
/** The Monday from which pairs of weeks are counted. */
const FIRST_PAIR = dayOf(2024, 1, 1);

/** The period of these terms that contains an instant (N47). */
export function periodOf(terms: string, instantMs: number, timezone: string): BillingPeriod {
  const zone = zoneOf(timezone);
  assert(zone !== undefined, "a workspace has a time zone");
  const [fromDay, toDay] = daysOf(terms, zone, instantMs);
  return {
    fromMs: zone.startOfDayMs(fromDay),
    toMs: zone.startOfDayMs(toDay),
    dueOn: formatDay(toDay + (NET_DAYS.get(terms) ?? 0)),
  };
}

/** First day, and the day after the last. */
function daysOf(terms: string, zone: Zone, instantMs: number): readonly [number, number] {
  const day = zone.dayAt(instantMs);
  if (terms === "weekly") return [mondayOf(day), mondayOf(day) + WEEK_DAYS];
  if (terms === "biweekly") {
    const pair = Math.floor((day - FIRST_PAIR) / TWO_WEEKS_DAYS);
    return [FIRST_PAIR + pair * TWO_WEEKS_DAYS, FIRST_PAIR + (pair + 1) * TWO_WEEKS_DAYS];
  }
  assert(terms === "monthly" || NET_DAYS.has(terms), `${terms} have no period`);
  const { year, month } = yearMonthOf(day);
  return [dayOf(year, month, 1), dayOf(year, month + 1, 1)];
}

import { parseDay } from "../../../schemas/time/calendar.ts";
import { zoneOf } from "../../../schemas/time/zone.ts";

export type Days = { readonly from?: string | undefined; readonly to?: string | undefined };

/** The instants between which days of a workspace lie: `from` is included, `to` is not. */
export function dayBounds(timezone: string, { from, to }: Days): Days {
  const zone = zoneOf(timezone);
  if (zone === undefined) throw new Error("a workspace has a time zone");
  const start = (text: string | undefined, daysLater: number): string | undefined => {
    const day = text === undefined ? undefined : parseDay(text);
    if (day === undefined) return undefined;
    return new Date(zone.startOfDayMs(day + daysLater)).toISOString();
  };
  return { from: start(from, 0), to: start(to, 1) };
}

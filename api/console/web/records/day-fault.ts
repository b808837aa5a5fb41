import { parseDay } from "../../../../schemas/time/calendar.ts";

/** The API has no days outside of these. The first digits of a year that is being typed are a year before them. */
export const FIRST_DAY = "1970-01-01";
export const LAST_DAY = "2099-12-31";

/** Why a day of the address filters nothing. A date field shows nothing for a text that is no day. */
export function dayFault(day: string, firstDay: string): string | undefined {
  if (day === "") return undefined;
  if (parseDay(day) === undefined) return `“${day}” is no day`;
  const isEarly = parseDay(firstDay) !== undefined && day < firstDay;
  return isEarly ? "This day is before the first" : undefined;
}

/** Why what somebody has typed is no day. */
export function typedFault({ badInput }: Pick<ValidityState, "badInput">): string {
  return badInput ? "Choose a whole day" : `Choose a day from ${FIRST_DAY} to ${LAST_DAY}`;
}

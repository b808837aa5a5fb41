import { DAY_MS, HOUR_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import type { TimeKind } from "./dimensions.ts";

const DAY_SECONDS = DAY_MS / SECOND_MS;
const HOUR_SECONDS = HOUR_MS / SECOND_MS;

/** The value of a time dimension, of seconds since 1970 and what the clocks are ahead of UTC then. Both are SQL. */
export function timeSql(kind: TimeKind, seconds: string, offset: string): string {
  const local = `(${seconds} + ${offset})`;
  const day = `intDiv(${local}, ${DAY_SECONDS})`;
  switch (kind) {
    case "date":
      return day;
    case "week":
      // Day 0 was a Thursday.
      return `(${day} - modulo(${day} + 3, 7))`;
    case "month":
      return `toYYYYMM(toDate(${day}))`;
    case "hour":
      return `intDiv(${local}, ${HOUR_SECONDS})`;
    case "hour_start":
      return `(intDiv(${local}, ${HOUR_SECONDS}) * ${HOUR_SECONDS} - ${offset})`;
  }
}

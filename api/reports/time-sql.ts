import { DAY_MS, HOUR_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import type { TimeKind } from "./dimensions.ts";

const DAY_SECONDS = DAY_MS / SECOND_MS;
const HOUR_SECONDS = HOUR_MS / SECOND_MS;

/** SQL for the value of a time dimension, from SQL for the seconds since 1970 and for the clock's offset from UTC at that time. */
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
    case "hour_of_day":
      return `modulo(intDiv(${local}, ${HOUR_SECONDS}), 24)`;
    case "weekday":
      return `(modulo(${day} + 3, 7) + 1)`;
    case "hour_start":
      return `(intDiv(${local}, ${HOUR_SECONDS}) * ${HOUR_SECONDS} - ${offset})`;
  }
}

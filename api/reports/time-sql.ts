import { DAY_MS, HOUR_MS, SECOND_MS } from "../../schemas/time/zone.ts";
import { DELAY_STEPS } from "./delay-steps.ts";
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

/**
 * SQL for the step of {@link DELAY_STEPS} that a time from click to conversion is on, counted from 1; 0 without a click. A conversion that
 * was reported with a time before its click is on the first.
 */
export function delaySql(click: string, conversion: string): string {
  const ms = `(toUnixTimestamp64Milli(${conversion}) - toUnixTimestamp64Milli(assumeNotNull(${click})))`;
  const ends = DELAY_STEPS.flatMap(({ belowMs }, index) =>
    belowMs === undefined ? [] : [`${ms} < ${belowMs}`, String(index + 1)],
  );
  return `toUInt8(multiIf(isNull(${click}), 0, ${ends.join(", ")}, ${DELAY_STEPS.length}))`;
}

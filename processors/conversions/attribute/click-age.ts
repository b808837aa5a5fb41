import type { ClickRecord } from "../../../schemas/events/click-record.ts";

/** Clocks of two hosts do not differ by more unless one of them is wrong. */
const SKEW_MS = 60_000;

/**
 * How long before the conversion its click was, in ms. Undefined without a click, and for one that lies in the future when the
 * conversion is reported: it is of a clock that was ahead, and its age is unknown.
 */
export function clickAgeMs(facts: {
  readonly click: Pick<ClickRecord, "ts"> | undefined;
  readonly convTsMs: number;
  readonly nowMs: number;
}): number | undefined {
  const { click, convTsMs, nowMs } = facts;
  if (click === undefined || click.ts - nowMs > SKEW_MS) return undefined;
  return convTsMs - click.ts;
}

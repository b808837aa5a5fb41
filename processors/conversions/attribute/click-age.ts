import type { ClickRecord } from "../../../schemas/events/click-record.ts";

/** The clocks of two hosts differ by at most this much, unless one of them is wrong. */
const SKEW_MS = 60_000;

/**
 * Time between click and conversion, in ms. Undefined without a click, and for a click with a time after the report: the clock of its
 * host was ahead, so its age is unknown.
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

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../schemas/time/zone.ts";

type DelayStep = {
  /** The value of `conversion_delay`. */
  readonly name: string;
  readonly label: string;
  /** Undefined for the last one. */
  readonly belowMs: number | undefined;
};

/** How long conversions come after their clicks, in steps. A statement numbers them from 1; 0 is for none. */
export const DELAY_STEPS: readonly DelayStep[] = [
  { name: "1m", label: "Below 1 minute", belowMs: MINUTE_MS },
  { name: "5m", label: "1 to 5 minutes", belowMs: 5 * MINUTE_MS },
  { name: "1h", label: "5 minutes to 1 hour", belowMs: HOUR_MS },
  { name: "6h", label: "1 to 6 hours", belowMs: 6 * HOUR_MS },
  { name: "1d", label: "6 hours to 1 day", belowMs: DAY_MS },
  { name: "3d", label: "1 to 3 days", belowMs: 3 * DAY_MS },
  { name: "7d", label: "3 to 7 days", belowMs: 7 * DAY_MS },
  { name: "30d", label: "7 to 30 days", belowMs: 30 * DAY_MS },
  { name: "more", label: "30 days and more", belowMs: undefined },
];

import type { LedgerConversion } from "./ledger.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** In the order in which reports sort them. */
const DELAYS = ["", "1m", "5m", "1h", "6h", "1d", "3d", "7d", "30d", "more"] as const;

export function delayOf({ click_ts, conv_ts }: LedgerConversion): (typeof DELAYS)[number] {
  if (click_ts === null) return "";
  const delayMs = conv_ts - click_ts;
  if (delayMs < MINUTE_MS) return "1m";
  if (delayMs < 5 * MINUTE_MS) return "5m";
  if (delayMs < HOUR_MS) return "1h";
  if (delayMs < 6 * HOUR_MS) return "6h";
  if (delayMs < DAY_MS) return "1d";
  if (delayMs < 3 * DAY_MS) return "3d";
  if (delayMs < 7 * DAY_MS) return "7d";
  return delayMs < 30 * DAY_MS ? "30d" : "more";
}

/** What a value of a dimension is sorted by. */
export function orderOf(dimension: string, value: string | number): string | number {
  return dimension === "conversion_delay" ? DELAYS.findIndex((one) => one === value) : value;
}

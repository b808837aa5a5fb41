import { z } from "zod";

/**
 * `reports`: `/pb` of clicks that were made before · `ad-ids`: `/px` and `/lp` with ad IDs that nobody knows · `keys`: made-up keys to the
 * api and tokens to `/pb`. Strangers have an address of their own each time.
 */
export const PacedOrder = z.object({
  kind: z.enum(["reports", "ad-ids", "keys"]),
  trackingUrl: z.string(),
  apiUrl: z.string(),
  token: z.string(),
  linkPath: z.string(),
  perSecond: z.number(),
  seconds: z.number(),
});
export type PacedOrder = z.infer<typeof PacedOrder>;

export const PacedResult = z.object({
  perSecond: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  /** How many had each answer; "ok" for a report that was taken. */
  outcomes: z.record(z.string(), z.number()),
});
export type PacedResult = z.infer<typeof PacedResult>;

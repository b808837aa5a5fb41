import { z } from "zod";

/**
 * `reports`: `/pb` for clicks made before · `ad-ids`: `/px` and `/lp` with ad IDs that no click has · `keys`: made-up keys to the
 * api and tokens to `/pb`. Each request comes from another address.
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
  /** The number of each outcome; "ok" is an accepted report. */
  outcomes: z.record(z.string(), z.number()),
});
export type PacedResult = z.infer<typeof PacedResult>;

import { z } from "zod";
import { DEFAULT_LANE_COUNT } from "./lanes.ts";

/*
 * Notices to ingress processes about clicks that other processes answered, over core NATS. A notice stays true for its whole
 * period, so it may be repeated, late or out of order: the total of a period never falls, a redirected visitor stays redirected, and
 * a cap stays reached until several rounds in a row lack it.
 */

/** A notice has about 100 bytes, so a message stays far below the server's limit of 1 MiB. */
export const NOTICES_PER_MESSAGE = 1_000;

const cap = z.string().max(120);
const bucket = z.int();

/** Redirected clicks on the offers of one lane, in one period of a click cap (`capName`, `capBucket`). */
export const ClickTotal = z.object({ cap, bucket, clicks: z.int().nonnegative() });
export type ClickTotal = z.infer<typeof ClickTotal>;

/** By the writer of a lane: what has changed, at least once a second; everything every five seconds and when it is wanted. */
export const ClickTotals = z.object({
  lane: z.int().min(0).max(255),
  /** Number of lanes among which the offers are divided. The total of a lane that was split begins anew. */
  lanes: z.int().positive().default(DEFAULT_LANE_COUNT),
  totals: z.array(ClickTotal).max(NOTICES_PER_MESSAGE),
  /** Ends a report of all totals of the lane. */
  isWhole: z.boolean().default(false),
});
export type ClickTotals = z.infer<typeof ClickTotals>;

/** A visitor was sent on to an offer that turns duplicates away (G145): offer, partner, visitor, UTC ms. */
export const ClickTaken = z.tuple([
  z.int().positive(),
  z.int().positive(),
  z.int().nonnegative(),
  z.int().nonnegative(),
]);
export type ClickTaken = z.infer<typeof ClickTaken>;

/** By every ingress, five times a second while there are any; by the writer of a lane when notices are wanted. */
export const ClicksTaken = z.array(ClickTaken).max(NOTICES_PER_MESSAGE);

/** The counter of a conversion, payout or revenue cap has reached this limit; `limit` is the text in the catalog. */
export const CapReached = z.object({ cap, bucket, limit: z.string().max(40) });
export type CapReached = z.infer<typeof CapReached>;

/** From one of the conversion processors, twice a second, even if nothing is new. */
export const CapsReached = z.object({
  /** The process that published them. */
  teller: z.string().max(100),
  /** Whether this round lists all reached caps, not only new ones. */
  isWhole: z.boolean(),
  /** Ends a round of all reached caps: the others are not reached. */
  isLast: z.boolean().default(false),
  reached: z.array(CapReached).max(NOTICES_PER_MESSAGE),
});
export type CapsReached = z.infer<typeof CapsReached>;

import { z } from "zod";

/** Ad IDs by which a click can be found (G113). */
export const AD_CLICK_ID_KINDS = ["gclid", "gbraid", "wbraid", "msclkid"] as const;
export type AdClickIdKind = (typeof AD_CLICK_ID_KINDS)[number];

/**
 * Request to the click writers, which hold young clicks (G162). A query by click id goes only to the writer of its shard; one by an ad ID
 * goes to all writers, and so does `stored`, which asks until when ClickHouse has every click (G264).
 */
export const ClickQuery = z.discriminatedUnion("by", [
  z.object({
    by: z.literal("id"),
    shard: z.int().nonnegative(),
    clickId: z.string(),
    /** Also asks whether everything that this producer recorded until then is known; see `isAllKnown` and `isGivenUp`. */
    recordedBy: z.object({ producer: z.int().nonnegative(), untilMs: z.int() }).optional(),
  }),
  z.object({
    by: z.literal("ad-click-id"),
    shard: z.int().nonnegative(),
    workspaceId: z.int(),
    kind: z.enum(AD_CLICK_ID_KINDS),
    value: z.string(),
    /** The answer has the latest click on this offer, if there is one; 0 for no offer (G113). */
    offerId: z.int().nonnegative().default(0),
  }),
  /** All clicks with an ad ID that are not in ClickHouse yet. */
  z.object({
    by: z.literal("unstored"),
    shard: z.int().nonnegative(),
    workspaceId: z.int(),
    kind: z.enum(AD_CLICK_ID_KINDS),
    value: z.string(),
  }),
  z.object({ by: z.literal("stored"), shard: z.int().nonnegative() }),
]);
export type ClickQuery = z.infer<typeof ClickQuery>;

/** Clicks as the JSON text of their rows, stored or about to be stored, newest last. */
export const ClickAnswer = z.object({
  /**
   * Every click of this shard answered before this moment (UTC ms) is known to the writer or to ClickHouse: the moment is the oldest `at`
   * of the last batches of all producers that have not ended; in the answer to an id, only of the producer that the id names. A younger
   * click that is not found may still be on its way. In the answer to `stored`, every click answered before this moment is in ClickHouse.
   */
  completeToMs: z.number(),
  clicks: z.array(z.string()),
  /** The most click lanes that the writer has heard of, when it was asked about clicks of any lane. Then other lanes must be asked too. */
  lanes: z.int().positive().optional(),
  /** Whether every click that `recordedBy` recorded until then, by its own clock, is known to the writer or to ClickHouse. */
  isAllKnown: z.boolean().optional(),
  /**
   * In the answer to an id: whether the click counts as lost if it is not found, because the journal of the ingress that recorded it
   * (`recordedBy`, else the ingress that the id names) was given up. The journal may come back.
   */
  isGivenUp: z.boolean().optional(),
});
export type ClickAnswer = z.infer<typeof ClickAnswer>;

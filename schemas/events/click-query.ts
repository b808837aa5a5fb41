import { z } from "zod";

/** Ad-platform click ids by which a click can be asked for (G113). */
export const AD_CLICK_ID_KINDS = ["gclid", "gbraid", "wbraid", "msclkid"] as const;
export type AdClickIdKind = (typeof AD_CLICK_ID_KINDS)[number];

/**
 * "Click, please": asked of the writers, which hold the young clicks (G162). By id the shard's owner alone is asked; by an
 * ad-platform id or for a page of newest clicks, all of them.
 */
export const ClickQuery = z.discriminatedUnion("by", [
  z.object({ by: z.literal("id"), shard: z.int().nonnegative(), clickId: z.string() }),
  z.object({
    by: z.literal("ad-click-id"),
    shard: z.int().nonnegative(),
    workspaceId: z.int(),
    kind: z.enum(AD_CLICK_ID_KINDS),
    value: z.string(),
  }),
]);
export type ClickQuery = z.infer<typeof ClickQuery>;

/** A stored or about-to-be-stored click as JSON text of its row, newest last. */
export const ClickAnswer = z.object({
  /**
   * Every click of this shard answered before this moment (UTC ms) is known to the writer or to ClickHouse: the oldest
   * `at` of the last batches of all live producers. A click younger than this that is not found may still be on its way.
   */
  completeToMs: z.number(),
  clicks: z.array(z.string()),
});
export type ClickAnswer = z.infer<typeof ClickAnswer>;

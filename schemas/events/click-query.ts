import { z } from "zod";

/** Ad-platform click ids by which a click can be asked for (G113). */
export const AD_CLICK_ID_KINDS = ["gclid", "gbraid", "wbraid", "msclkid"] as const;
export type AdClickIdKind = (typeof AD_CLICK_ID_KINDS)[number];

/**
 * "Click, please": asked of the writers, which hold the young clicks (G162). By id the shard's owner alone is asked; by an
 * ad-platform id or for a page of newest clicks, all of them.
 */
export const ClickQuery = z.discriminatedUnion("by", [
  z.object({
    by: z.literal("id"),
    shard: z.int().nonnegative(),
    clickId: z.string(),
    /** Asks also whether everything that this producer recorded until then is known; see `isAllKnown` and `isGivenUp`. */
    recordedBy: z.object({ producer: z.int().nonnegative(), untilMs: z.int() }).optional(),
  }),
  z.object({
    by: z.literal("ad-click-id"),
    shard: z.int().nonnegative(),
    workspaceId: z.int(),
    kind: z.enum(AD_CLICK_ID_KINDS),
    value: z.string(),
    /** The answer has the latest click of this offer, if there is one; 0 names none (G113). */
    offerId: z.int().nonnegative().default(0),
  }),
]);
export type ClickQuery = z.infer<typeof ClickQuery>;

/** A page of the clicks of one shard that are not in ClickHouse yet, newest first: of one time the higher id first. */
export const ClickPageQuery = z.object({
  by: z.literal("page"),
  shard: z.int().nonnegative(),
  workspaceId: z.int(),
  /** Both included, UTC ms. */
  fromMs: z.number(),
  toMs: z.number(),
  /** Fields of the record that have to be equal; one that the record leaves out has its default. */
  where: z
    .array(z.object({ column: z.string(), value: z.union([z.string(), z.number(), z.boolean()]) }))
    .max(50),
  /** Clicks behind this one only. */
  after: z.object({ atMs: z.number(), clickId: z.string() }).optional(),
  limit: z.int().positive(),
});
export type ClickPageQuery = z.infer<typeof ClickPageQuery>;

/** Stored or about-to-be-stored clicks as JSON text of their rows: newest last, in a page newest first. */
export const ClickAnswer = z.object({
  /**
   * Every click of this shard answered before this moment (UTC ms) is known to the writer or to ClickHouse: the oldest
   * `at` of the last batches of all producers that have not ended, in the answer to an id of the one that it names. A click
   * younger than this that is not found may still be on its way.
   */
  completeToMs: z.number(),
  clicks: z.array(z.string()),
  /** Whether every click that `recordedBy` recorded until then, by its own clock, is known to the writer or to ClickHouse. */
  isAllKnown: z.boolean().optional(),
  /**
   * In the answer to an id: whether the click counts as lost if it is not found, because the journal of the ingress that recorded it
   * (`recordedBy`, else the one that the id names) was given up. It may come back.
   */
  isGivenUp: z.boolean().optional(),
  /** A page that had no room for more rows: those after its last one are to be asked for. */
  isCut: z.boolean().optional(),
});
export type ClickAnswer = z.infer<typeof ClickAnswer>;

import { z } from "zod";
import type { AdClickIdKind } from "./click-query.ts";

/** Ad IDs by which a landing page may look up its click. */
export const LANDING_AD_CLICK_IDS = [
  "gclid",
  "gbraid",
  "wbraid",
] as const satisfies readonly AdClickIdKind[];
export type LandingAdClickId = (typeof LANDING_AD_CLICK_IDS)[number];

/**
 * Request from ingress to the conversion processors for the click of a landing page's visit: only they can reach both the click writers
 * and ClickHouse. The ids are tried in order, the click id first.
 */
export const ClickLookup = z.object({
  /** 32 lower-case hex digits; null if the page has no click id. */
  clickId: z.string().nullable(),
  adClickIds: z
    .array(z.object({ kind: z.enum(LANDING_AD_CLICK_IDS), value: z.string().min(1) }))
    .max(LANDING_AD_CLICK_IDS.length),
  /** Clicks of other workspaces do not count. */
  workspaceIds: z.array(z.int().positive()),
  /** Among clicks with the same ad ID, clicks on this offer win (G113); 0 if the page names no offer. */
  offerId: z.int().nonnegative(),
  /** When the page asked, UTC ms. The answer is "none" only if every click answered before this time is known (G162). */
  receivedAtMs: z.int(),
});
export type ClickLookup = z.infer<typeof ClickLookup>;

export const ClickLookupReply = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("found"),
    by: z.enum(["param", ...LANDING_AD_CLICK_IDS]),
    clickId: z.string(),
    workspaceId: z.int().positive(),
  }),
  z.object({ kind: z.literal("none") }),
  /** The click writers or ClickHouse do not answer, or a writer has not reached the time of the request. */
  z.object({ kind: z.literal("unavailable") }),
]);
export type ClickLookupReply = z.infer<typeof ClickLookupReply>;

import { z } from "zod";
import type { AdClickIdKind } from "./click-query.ts";

/** Ad-platform ids by which a landing page may ask for its click. */
export const LANDING_AD_CLICK_IDS = [
  "gclid",
  "gbraid",
  "wbraid",
] as const satisfies readonly AdClickIdKind[];
export type LandingAdClickId = (typeof LANDING_AD_CLICK_IDS)[number];

/**
 * "Whose visit is this?": asked by ingress of the conversion processors, which reach both the writers and ClickHouse. The ids
 * are tried in their order, the click id first.
 */
export const ClickLookup = z.object({
  /** 32 lower-case hex digits; null when the page knows none. */
  clickId: z.string().nullable(),
  adClickIds: z
    .array(z.object({ kind: z.enum(LANDING_AD_CLICK_IDS), value: z.string().min(1) }))
    .max(LANDING_AD_CLICK_IDS.length),
  /** A click of another workspace is as good as none. */
  workspaceIds: z.array(z.int().positive()),
  /** Its clicks go first among those with one ad-platform id (G113); 0 when no offer was named. */
  offerId: z.int().nonnegative(),
  /** When the page asked, UTC ms: "none" is only said when every click answered before is known (G162). */
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
  /** Who would know cannot be asked, or is behind the time of the question. */
  z.object({ kind: z.literal("unavailable") }),
]);
export type ClickLookupReply = z.infer<typeof ClickLookupReply>;

import { z } from "zod";
import { ClickRecord } from "./click-record.ts";

/** The click that a coupon credits (G115). Its conversion is committed before any ingress records the click. */
export const CouponClick = ClickRecord.pick({
  click_id: true,
  ts: true,
  workspace_id: true,
  offer_id: true,
  advertiser_id: true,
  affiliate_id: true,
  domain: true,
});
export type CouponClick = z.infer<typeof CouponClick>;

/** For how long an ingress may record such a click after it was asked or has asked. */
export const COUPON_CLICK_MS = 15_000;

/** The answer of an ingress that would record a coupon's click that another ingress may not have recorded. */
export const CouponClickTaker = z.object({ producer: z.int().min(0).max(65_535) });

/** Sent to the ingress with this producer number. It records the click once, but not after `untilMs` on its own clock. */
export const CouponClickOrder = z.object({ click: CouponClick, untilMs: z.int() });
export type CouponClickOrder = z.infer<typeof CouponClickOrder>;

import { z } from "zod";
import { CouponClick } from "./coupon-click.ts";

/**
 * A conversion report as it came in on the tracking domain: `/pb`, a pixel or the script. Ingress reads the transport
 * (query, form, JSON, multipart) and judges nothing; the conversion processor judges everything.
 */
export const PostbackRequest = z.object({
  endpoint: z.enum(["pb", "px"]),
  /** Every parameter once, first value wins, body over query (G119). Values are text, also those of a JSON body. */
  params: z.record(z.string(), z.string()),
  /** Value of cookie trk_cid, for pixels; "" when there is none. */
  cookieClickId: z.string(),
  /** Tracking host of the request, lower case, without the port 80 or 443. */
  host: z.string(),
  /** Address of the sender, behind trusted proxies that of the client (P33). */
  ip: z.string(),
  userAgent: z.string(),
  /** When the request came in: UTC milliseconds. The conversion's time. */
  receivedAtMs: z.int(),
  /** The journal that a click of this report would go to; without it a coupon makes none. */
  producer: z.int().min(0).max(65_535).optional(),
  /** Until when, by its own clock (UTC milliseconds), the sender would record that click. */
  recordsUntilMs: z.int().optional(),
  /** Header Idempotency-Key of `/pb`, at most 65 characters of it (G203). */
  idempotencyKey: z.string().max(65).optional(),
  /** It comes from an installation that had relayed it as of an unknown click (G117): it goes no further. */
  isRelayed: z.boolean().optional(),
  /** Id of the conversion that this report makes, if it makes one: a report that is sent again makes no second one (P15). */
  conversionId: z.uuid().optional(),
  /** Sent before, to somebody whose answer never came or was an outage. */
  isRepeat: z.boolean().optional(),
});
export type PostbackRequest = z.infer<typeof PostbackRequest>;

/** Result words of the inbound log. */
export const POSTBACK_RESULTS = [
  "approved",
  "pending",
  "rejected",
  "duplicate",
  "updated",
  "forwarded",
  "test",
  "invalid_token",
  "token_required",
  "advertiser_inactive",
  "unknown_click",
  "unknown_conversion",
  "unknown_offer",
  "coupon_error",
  "ip_not_allowed",
  "malformed",
  "method_not_allowed",
  "rate_limited",
  "unavailable",
  "error",
] as const;
export type PostbackResult = (typeof POSTBACK_RESULTS)[number];

/** What ingress answers with. For a pixel the status is always 200 and the outcome goes into the header. */
export const PostbackReply = z.object({
  httpStatus: z.int(),
  result: z.enum(POSTBACK_RESULTS),
  /** Body of `/pb`: `{ok: true, conversion_id, status, …}` or `{ok: false, error}`. */
  body: z.looseObject({ ok: z.boolean() }),
  /** Recorded before the answer leaves, if that is before `recordsUntilMs`. Only the reply to the report that made it has it. */
  couponClick: CouponClick.optional(),
});
export type PostbackReply = z.infer<typeof PostbackReply>;

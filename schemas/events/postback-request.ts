import { z } from "zod";
import { CouponClick } from "./coupon-click.ts";

/**
 * A conversion report to the tracking domain: `/pb`, a pixel or the script. Ingress only decodes the parameters (query, form, JSON,
 * multipart); the conversion processor validates and judges them.
 */
export const PostbackRequest = z.object({
  endpoint: z.enum(["pb", "px"]),
  /** Every parameter once, first value wins, body over query (G119). Values are text, also in a JSON body. */
  params: z.record(z.string(), z.string()),
  /** Value of cookie trk_cid, for pixels; "" when there is none. */
  cookieClickId: z.string(),
  /** Tracking host of the request, lower case, without the port 80 or 443. */
  host: z.string(),
  /** Address of the sender; behind trusted proxies, of the client (P33). */
  ip: z.string(),
  userAgent: z.string(),
  /** When the request arrived, UTC milliseconds. The time of the conversion. */
  receivedAtMs: z.int(),
  /** Number of the journal that would record a coupon's click. Without it, a coupon creates no click. */
  producer: z.int().min(0).max(65_535).optional(),
  /** The sender would record that click until this time on its own clock, UTC milliseconds. */
  recordsUntilMs: z.int().optional(),
  /** Header Idempotency-Key of `/pb`, at most 65 characters of it (G203). */
  idempotencyKey: z.string().max(65).optional(),
  /** Another installation relayed it because its click is unknown there (G117). It is not relayed again. */
  isRelayed: z.boolean().optional(),
  /** Id of the conversion that this report may create. Because of it, a repeat of the report creates no second one (P15). */
  conversionId: z.uuid().optional(),
  /** Kept with a pixel that is sent later. A processor takes it from the headers of the message first. */
  requestId: z.string().max(64).optional(),
  /** The report was sent before, and the answer was an outage or never arrived. */
  isRepeat: z.boolean().optional(),
});
export type PostbackRequest = z.infer<typeof PostbackRequest>;

/** Results in the inbound log. */
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

/** The answer for ingress to send. For a pixel, ingress sends status 200 and puts the outcome into a header. */
export const PostbackReply = z.object({
  httpStatus: z.int(),
  /** For logs and metrics. A result that only a newer processor knows becomes `error`: status and body say what happened. */
  result: z.enum(POSTBACK_RESULTS).catch("error"),
  /** Body of `/pb`: `{ok: true, conversion_id, status, …}` or `{ok: false, error}`. */
  body: z.looseObject({ ok: z.boolean() }),
  /** Explains a refused pixel in a header of its own, because the contract fixes the text of the error. */
  hint: z.string().optional(),
  /** Of an outage, if it is known. */
  retryAfterSeconds: z.int().positive().optional(),
  /** Ingress records this click before it answers, unless `recordsUntilMs` has passed. Only the reply to the report that created the click has it. */
  couponClick: CouponClick.optional(),
});
export type PostbackReply = z.infer<typeof PostbackReply>;

import type { FraudChecks } from "../../../schemas/catalog/records.ts";
import type { LandingResult } from "../../../schemas/events/inbound-call.ts";
import type { PostbackResult } from "../../../schemas/events/postback-request.ts";
import type { WebhookEvent } from "../../records/webhook-events.ts";

const OUTAGE = "The service could not answer now. Nothing was recorded; send it again";

/** Results of `/pb` and the pixels in the inbound log. */
export const RESULT_MEANINGS: Readonly<Record<PostbackResult, string>> = {
  approved: "A new conversion, approved",
  pending: "A new conversion that waits: a hold, a review rule, or `status=pending`",
  rejected: "A new conversion, rejected; `message` has the reason",
  duplicate: "A repeat of a known conversion. It is recorded as rejected and pays nothing",
  updated: "A known conversion was changed, or the report repeated its last change",
  forwarded: "The click belongs to another system, and the report was relayed to it",
  test: "`test=1`: everything was checked and nothing stored",
  invalid_token:
    "Unknown token, or an advertiser's token for another advertiser's offer (HTTP 401)",
  token_required: "No token (HTTP 401)",
  advertiser_inactive: "The advertiser of the token is paused or inactive (HTTP 401)",
  unknown_click: "No such click in this workspace",
  unknown_conversion: "No conversion has this `conversion_id`",
  unknown_offer: "No such offer, or the offer of the click was deleted",
  coupon_error: "The coupon is unknown, not active, or not for this offer",
  ip_not_allowed: "A change from an address that is not on the advertiser's list (HTTP 403)",
  malformed: "A value or the body cannot be read (HTTP 400; pixels answer 200)",
  method_not_allowed: "Neither GET nor POST (HTTP 405)",
  rate_limited: "Too many calls from one address (HTTP 429), where the installation has a limit",
  unavailable: `${OUTAGE} (HTTP 503). A pixel is kept and recorded later`,
  error: "Any other refusal; `message` says which",
};

/** Results of `/lp` in the inbound log. Results with a click are also the `source` in the answer. */
export const LANDING_MEANINGS: Readonly<Record<LandingResult, string>> = {
  param: "The click was found by `click_id`",
  gclid: "The click was found by `gclid`",
  gbraid: "The click was found by `gbraid`",
  wbraid: "The click was found by `wbraid`",
  organic: "A new click for the organic partner",
  direct: "A new click for the offer of the page",
  malformed: "The body is no JSON object, or an ID in it is invalid (HTTP 400)",
  unknown_offer: "No such offer (HTTP 400)",
  unavailable: `${OUTAGE} (HTTP 503)`,
  error: "Any other refusal; `message` says which",
};

/** When each event is sent, and its `data`. */
export const WEBHOOK_MEANINGS: Readonly<Record<WebhookEvent, readonly [string, string]>> = {
  "conversion.created": [
    "a conversion is recorded, also a rejected or duplicate one",
    "conversion",
  ],
  "conversion.updated": [
    "its status or money changes; `previous` has the old values",
    "conversion",
  ],
  "offer.created": ["an offer is created", "offer, as staff see it"],
  "offer.updated": ["an offer changes; `previous` has the changed fields", "offer"],
  "affiliate.signup": ["a partner signs up and waits for a decision", "partner"],
  "affiliate.updated": ["a partner changes; `previous` has the changed fields", "partner"],
  "access.requested": ["a partner asks for an offer", "access record"],
  "access.decided": ["a partner is approved or rejected for an offer", "access record"],
  "invoice.created": ["a period of an advertiser was closed with something to pay", "invoice"],
  "invoice.paid": ["payments cover the whole invoice", "invoice"],
  "statement.created": [
    "a period of a partner is closed",
    "statement, as staff see it, with its lines",
  ],
  "statement.approved": ["a statement is approved and has its number", "statement with its lines"],
  "affiliate.payment_method_changed": [
    "a partner or the staff changes how the partner is paid",
    "partner, method, who and when",
  ],
  "payout.paid": ["a payout to a partner arrived", "payout"],
  "payout.failed": ["a payout to a partner failed or came back", "payout"],
};

/** The value of each fraud check, and which conversions it rejects. */
export const FRAUD_MEANINGS: Readonly<Record<keyof FraudChecks, readonly [string, string]>> = {
  bot: ["true", "whose click came from a known bot"],
  datacenter: ["true", "whose click came from a hosting network"],
  proxy_hint: ["true", "whose click came through a proxy that says so in its headers"],
  headless: ["true", "whose click came from an automated browser"],
  missing_ua: ["true", "whose click had no user agent"],
  duplicate_click_ip: ["a number", "when more clicks than this came from the address in 24 hours"],
  duplicate_conv_ip: [
    "a number",
    "when this many earlier conversions came from the address in 24 hours",
  ],
  duplicate_conv_subnet24: [
    "a number",
    "when this many earlier conversions came from its network (IPv4 /24, IPv6 /48) in 24 hours",
  ],
};

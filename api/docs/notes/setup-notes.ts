import type { Notes } from "./notes.ts";

const SETUP: Notes = {
  slug: "Short name of the workspace, a label of a host name",
  brand_name: "Public name",
  timezone: "IANA time zone of days in reports, of caps and schedules",
  "Workspace.status": "An inactive workspace accepts no clicks, and its keys are refused",
  "Workspace.currency": "ISO 4217 code of reports and of new advertisers",
  default_fallback_url:
    "Where visitors go whose click no offer accepts; if empty they see a neutral page",
  allowed_destinations: "Hosts that `url=` of any link may name, as `allowed_domains` of an offer",
  attribution_model:
    "Which click gets the conversion when a visitor has several: the `last` or the `first`",
  advertiser_updates: "Whether reports with an advertiser's own token may change conversions",
  organic_affiliate_id: "The partner that is credited if no click is found; null for none",
  email_attribution:
    "Whether a report without a click is credited by a hash of the customer's e-mail",
  ip_storage: "Whether addresses of visitors are stored in full or without their last part",
  advertiser_may_rotate: "Whether advertisers may replace their own postback token",
  sign_up:
    "Whether partners may sign up: `closed`, or `review`: they come as pending and an admin decides",
  forward_unknown_url:
    "Where reports with an unknown click id are relayed: the click may belong to another system, to which a traffic control sent the visitor",
  "User.status": "Whether the person is still active",
  role: "What the key may do: `admin` all, `analyst` reads, `partner` and `advertiser` see their own",
  permissions: "What the key may do",
  ip_allowlist: "Addresses and CIDR ranges that the key may be used from; empty: from anywhere",
  expires_at: "When it expires; null for never",
  last_used_at: "When it was last used, to the minute; null for never",
  revoked_at: "When it was revoked, null while it is valid",
  host: "Host name of links, with a port unless it is the default one",
  "?host": "Another active tracking domain of the workspace",
  scheme: "Scheme of links",
  "TrackingDomain.status": "Links use active domains only",
  "TrackingDomain.is_default": "Whether links use it if no other domain is assigned",
  certification: "Whether the ad platform has certified it as a click tracker",
  domain_id: "The tracking domain",
  "LinkKey.key": "The part after `/c/` in the link",
  "SmartLink.code":
    "The part after `/s/` in the link, followed by `-` and the partner's code unless `affiliate_id` is set",
  "SmartLink.status": "Clicks on a paused one go to the fallback",
  "CodeAlias.kind": "What the alias names",
  alias:
    "Code of an earlier system: 1 to 64 letters, digits and `-_.~`, unique in the workspace and kind; case is ignored",
  target: "Code of the record that the alias names",
  target_id: "Id of this record",
  shadowed:
    "A record with this text as its code or id exists, so links with the text lead to that record",
  mode: "`weighted`: offers of a rule share its clicks by weight · `waterfall`: the first offer that accepts the click gets it",
  rules:
    "Evaluated in order; the first rule that matches and has an offer that accepts the click decides",
  "rules.name": "Name of the rule for people",
  "rules.conditions":
    "Visitors to whom the rule applies, in the form of an offer's `targeting`; {} for all visitors",
  "rules.offers": "Offers that the rule chooses from",
  "offers.offer_id": "The offer",
  "offers.weight":
    "Relative share of the rule's clicks; an offer with 0 gets clicks only if no other offer accepts them",
  "TrafficSourceTemplate.params": 'Text for each sub ID, such as {sub1: "{keyword}"}',
  "TrafficSourceTemplate.source_id": "Text for `source_id` of links",
  affiliate_ids: "The partners",
  "TrafficSourceTemplate.affiliate_ids": "Partners whose links must use it",
  "TrafficControl.status": "A paused control has no effect",
  "TrafficControl.action": "`block` sends clicks to the fallback, `forward` to `forward_offer_id`",
  forward_offer_id: "The offer that gets forwarded clicks",
  conditions: "At least one condition; all must be met",
  "conditions.source_ids": "Values of `source_id`",
  "conditions.sub": 'Values for each sub ID, such as {sub1: ["a"]}',
  "conditions.countries": "ISO 3166 alpha-2 codes",
  "conditions.ip_ranges": "Addresses and CIDR ranges of visitors",
  "conditions.user_agent_contains": "Parts of user agents; case is ignored",
  "conditions.event_codes": "Codes of events",
  "conditions.methods": "How the conversion was reported",
  "conditions.min_sale_amount": "Minimum sale amount",
  "conditions.max_sale_amount": "Maximum sale amount",
  "conditions.max_seconds_since_click": "Maximum seconds after the click",
  position: "Rules are evaluated in this order",
  "ConversionRule.status": "A paused rule has no effect",
  "ConversionRule.action": "`reject` or `hold` (pending); the reason is `rule:<name>`",
  "Coupon.code": "Code that the customer enters; case is ignored",
  "Coupon.status": "An inactive coupon credits no partner",
  date: "Day",
  hour: "Hour of the day, 0 to 23; null for the whole day",
  amount: "What was spent",
  rate: "Units of the currency per EUR, a decimal",
  rows: "Rows to set",
  "data.inserted": "Costs that are new",
  "setAdCosts.data.updated": "Existing costs that got a new amount",
  "data.rejected": "Rows that were refused, and why",
  entries: "Hosts, or hosts with a path prefix, that no link may lead to",
};

const NOTIFYING: Notes = {
  "Postback.kind":
    "`s2s`: a request from this server · `html`: markup that an iframe pixel carries",
  "Postback.method": "Method of the request",
  "Postback.url":
    "Where it is sent; macros such as `{click_id}`, `{payout}`, `{status}`, `{sub1}` are replaced. For kind html: the image to fetch when `body` is empty",
  "Postback.body":
    "For a POST: its body. For kind html: what an iframe pixel (/px.html, or /px.js with html=1) carries; an image of url when empty",
  "Postback.status":
    "Only active ones fire; the service sets `disabled` after 25 failed deliveries in a row",
  fire_on:
    "`approved`: a conversion is approved · `any`: whatever its status · `reversal`: an approved one is rejected",
  created_by_affiliate: "Whether a partner's key created it",
  "Webhook.url": "Where events are posted",
  "Webhook.events": "Which events are sent",
  active: "Whether events are sent",
  postback_id: "The postback",
  webhook_id: "The webhook",
  conversion_id: "The conversion",
  trigger: "Why it fired",
  "PostbackDelivery.status":
    "`pending` before the first attempt, `retrying` between attempts, `delivered` or `failed` at the end",
  "WebhookDelivery.status":
    "`pending` before the first attempt, `retrying` between attempts, `delivered` or `failed` at the end",
  "PostbackDeliveryWithHistory.status":
    "`pending` before the first attempt, `retrying` between attempts, `delivered` or `failed` at the end",
  "WebhookDeliveryWithHistory.status":
    "`pending` before the first attempt, `retrying` between attempts, `delivered` or `failed` at the end",
  "WebhookDelivery.event": "What happened",
  "WebhookDeliveryWithHistory.event": "What happened",
  "PostbackDeliveryWithHistory.error": "Why the last attempt failed; empty when it did not",
  "WebhookDeliveryWithHistory.error": "Why the last attempt failed; empty when it did not",
  "testWebhook.event": "The event to send a sample of",
  attempts: "Attempts so far",
  "DeliveryAttempt.sent_at": "When the request began",
  "DeliveryAttempt.status":
    "What came of the attempt: it arrived (`delivered`), another one was to follow (`retrying`), or it was the last (`failed`)",
  "PostbackDelivery.error": "Why the last attempt failed; empty when it did not",
  "WebhookDelivery.error": "Why the last attempt failed; empty when it did not",
  response_status: "HTTP status of the last answer; null if there was none",
  finished_at: "When it was delivered or given up; null before that",
};

const CHECKING: Notes = {
  "data.type": "`affiliate` or `transparent`",
  "data.url": "The link",
  "data.host": "Its tracking domain",
  "data.warnings":
    "Why clicks would go to the fallback, and problems of the domain; for staff keys",
  "data.link_key": "The part after `/c/`",
  "data.google_ads": "What to paste into the ad platform; only with type `transparent`",
  "google_ads.tracking_template": "The tracking template",
  "google_ads.certified": "Whether the domain is certified",
  "google_ads.cert_status": "The domain's certification",
  "google_ads.final_url_suffix": "The final URL suffix",
  ...Object.fromEntries(
    ["lintGoogleAdsTemplate", "lintAdPlatformTemplate", "testTemplate"].flatMap((operation) => [
      [`${operation}.template`, "Tracking template of an ad platform"],
      [`${operation}.suffix`, "Final URL suffix"],
    ]),
  ),
  "LintVerdict.template": "What was found in the template, null when none was sent",
  "template.ok": "No error in it",
  "template.host": "Its host, null when there is none",
  "template.length": "Characters",
  "template.tags": "Its tags in order",
  "template.issues": "What was found",
  ok: "No error",
  "LintVerdict.suffix": "What was found in the suffix",
  final_url: "The landing page",
  platform: "The ad platform whose rules apply",
  "LintIssue.code": "Code of the issue",
  severity: "`error` makes the verdict not ok",
  message: "Description for people",
  hint: "What to do about it",
  duration_ms: "Milliseconds",
  hops: "The requests in order",
  "hops.url": "The requested URL",
};

const LOGS: Notes = {
  endpoint: "Path that was called",
  token_owner: "Owner of its token",
  http_status: "Status of the answer",
  result: "Result code",
  action: "What was done",
  key_id: "The key that made the request; null for the command line",
  request_id: "`X-Request-Id` of the answer",
  "AuditLogEntry.status": "HTTP status of the answer",
  "AuditLogEntry.id": "Number of the entry",
  "PostbackLogEntry.id": "Number of the entry",
  "PostbackLogEntry.request_id":
    "`X-Request-Id` of the answer, and `X-Tracker-Request` of what was delivered because of it; null for calls that share an entry",
};

const OWN_ACCOUNT: Notes = {
  "OwnPostbackToken.postback_token": "The `token` in the advertiser's reports of conversions",
  may_rotate: "Whether the workspace lets the advertiser replace it",
  old_tokens: "Replaced tokens that are still good",
  "old_tokens.ends_with": "Its last four characters",
  "old_tokens.good_until": "When it ends",
  grace_hours: "Hours for which the old token stays good, 0 to 72; 0 ends it and all earlier ones",
  "OwnCall.id": "Number of the entry",
  "OwnCall.ip":
    "Address of the advertiser's own server; null for visitors and for the network's server",
  "OwnCall.params":
    "As sent, without the parameters of partners; a token and values of unknown names are masked",
  "OwnCall.message": "The error, or the reason of the status",
  event_name: "Name of the event",
  offer_code: "Short name of the offer in links",
  last_at: "The last call of the last 7 days, null without one",
  received: "All calls, also duplicates, updates and tests",
  approved: "Calls that made an approved conversion",
  pending: "Calls that made a pending conversion",
  rejected: "Calls that made a rejected conversion",
  errors: "Refused calls by result code",
  unassigned: "Calls of the advertiser whose event could not be found",
  "testOwnPostback.params":
    "Parameters of `/pb` as texts; `token` and `test` are set by the service",
  "TestedPostback.answer": "What `/pb` would answer",
  "answer.ok": "Whether the postback would be accepted",
  steps: "What the postback must pass, in order",
  "steps.name": "What is checked",
  "steps.outcome": "`passed`, `failed`, or `not_reached` because an earlier step failed",
  "steps.message": "The error of a failed step; of the last step the status and its reason",
};

const ME: Notes = {
  "Me.key": "The key of this request",
  "key.id": "The key",
  "key.name": "Its name",
  "key.role": "Its role",
  workspace: "The workspace of the key",
  "workspace.id": "The workspace",
  "workspace.slug": "Its short name",
  "workspace.name": "Its name",
  "workspace.timezone": "IANA time zone of its days",
  "workspace.currency": "ISO 4217 code of its reports",
  affiliate: "The account of a partner's key, null for other roles",
  "affiliate.id": "The partner",
  "affiliate.code": "Its short name in links",
  "affiliate.name": "Its name",
  "affiliate.status": "Its status",
  advertiser: "The account of an advertiser's key, null for other roles",
  "advertiser.id": "The advertiser",
  "advertiser.name": "Its name",
  "advertiser.status": "Its status",
  "offer.id": "The offer",
  "offer.code": "Its short name in links",
  "offer.name": "Its name",
  rate_limit: "What is left of this minute's budget of the key",
  "rate_limit.limit": "Requests a minute",
  "rate_limit.remaining": "Requests left",
  "rate_limit.reset_sec": "Seconds until the next minute begins",
};

/** A workspace and its records, outgoing messages, checks and logs. */
export const SETUP_NOTES: Notes = {
  ...SETUP,
  ...NOTIFYING,
  ...CHECKING,
  ...LOGS,
  ...OWN_ACCOUNT,
  ...ME,
};

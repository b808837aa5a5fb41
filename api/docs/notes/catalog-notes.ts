import type { Notes } from "./notes.ts";

const RECORD: Notes = {
  id: "Identifier within this installation",
  "Conversion.id": "UUID of the conversion",
  "ConversionOfClick.id": "UUID of the conversion",
  "PostbackDelivery.id": "UUID of the delivery, also sent as `X-Tracker-Delivery`",
  created_at: "When it was created, UTC",
  updated_at: "When it was last changed, UTC",
  name: "Name for people; need not be unique",
  "Event.name": "Name of the event for people",
  notes: "Free text of the staff",
  "Conversion.notes": "Free text of the staff; never shown to partners or advertisers",
  note: "Reason, as free text",
  tags: "Words for searching",
  deleted: "Always true",
  currency: "ISO 4217 code",
  country: 'ISO 3166 alpha-2 code, `""` when unknown',
  data: "The requested records or values",
  next_cursor: "Send it as `cursor` for the next page; null on the last one",
  next_offset: "Send it as `offset` for the next page; null on the last one",
  range: "The range that was read",
  "range.from": "First instant, UTC",
  "range.to": "Last instant, UTC, included",
  "range.tz": "Time zone of days and hours",
  compared_range: "The range that `compare` compares with",
  "compared_range.from": "First instant, UTC",
  "compared_range.to": "Last instant, UTC, included",
  "compared_range.tz": "Time zone of days and hours",
  "conversion.basis": "`daily`: each day's rate applies to the money of that day",
  "conversion.unconverted":
    "Currencies with money that has no usable rate on some day, and is left out",
  error: "What went wrong",
  "error.code": "Stable code for programs",
  "error.details": "Details: `fields` names each field and its fault",
};

const OFFER: Notes = {
  offer_id: "The offer",
  "Creative.offer_id": "The offer it advertises",
  "AdCost.offer_id": "The offer it was spent for; null for none in particular",
  "Coupon.offer_id":
    "The offer it is valid for; null for any, then the report of the conversion names the offer",
  "TrackingDomainAssignment.offer_id": "Links of this offer get the domain; null for any offer",
  "Click.offer_id": "The offer that was chosen, 0 when none was",
  offer_name: "Name of the offer",
  offer_ids: "The offers",
  "Offer.code": "Short name in links, unique in the workspace; case is ignored",
  "Offer.status": "A paused offer accepts no clicks: they go to the fallback",
  visibility:
    "`public`: every partner runs it · `approval`: partners ask and are approved · `private`: only approved partners see it",
  advertiser_id: "The advertiser it belongs to",
  "Key.advertiser_id": "The account of an advertiser's key, null for other roles",
  "Click.advertiser_id": "The advertiser of the offer, 0 without one",
  category: "Word by which offers can be searched",
  description: "Description for partners",
  "ProductFeed.description": "What the feed contains",
  "Offer.currency": "ISO 4217 code of payouts and revenues; the advertiser's by default",
  payout_type:
    "How the partner is paid: `cpa` an amount for an action, `cps` a percentage of the sale, `cpc` an amount for a unique click",
  payout:
    "What the partner is paid: an amount in the offer's currency, or percent of the sale with `cps`",
  revenue_type:
    "How the advertiser pays: `rpa` an amount for an action, `rps` a percentage of the sale, `rpc` an amount for a unique click",
  revenue:
    "What the advertiser pays: an amount in the offer's currency, or percent of the sale with `rps`",
  "PayoutOverride.payout_type":
    "As on an event; null keeps the event's, and then `payout` is null too",
  "PayoutOverride.payout": "What this partner is paid instead; null keeps the event's",
  "PayoutOverride.revenue_type":
    "As on an event; null keeps the event's, and then `revenue` is null too",
  "PayoutOverride.revenue":
    "What the advertiser pays for this partner's conversions; null keeps the event's",
  "Conversion.payout": "What the partner is paid for it",
  "Conversion.revenue": "What the advertiser pays for it",
  "ConversionOfClick.payout": "What the partner is paid for it",
  "ConversionOfClick.revenue": "What the advertiser pays for it",
  caps: "Limits in the workspace's time zone. Clicks above a reached one go to the fallback, conversions are rejected as `cap_exceeded`",
  "OfferGroup.caps": "Limits that its offers share, as on an offer",
  budget_caps:
    "Limits over all offers of the advertiser, as the caps of an offer; `revenue` is the budget",
  targeting:
    "Which visitors are accepted; others go to the fallback. A condition that is left out accepts all visitors",
  conversion_method:
    "Which reports of conversions are accepted: `any`, only `pixel`s, or only server-to-server (`s2s`). Recording through this API is always accepted",
  unique_per_click:
    "A second conversion of one click and event is a duplicate, unless the event allows several",
  txid_scope:
    "Where an order number (`txid`) is unique: the `offer`, so that one order is one conversion, or each `event`, so that one lead ID serves all events of an app",
  attribution_days:
    "A conversion more than this many days after its click is rejected as `outside_window`",
  default_status: "Status of a conversion unless a rule decides otherwise",
  events: "What can be reported as a conversion; the first one has the code `default`",
  access_status: "Status of the partner's access; null when it never asked",
  can_run: "Whether the partner may send visitors now",
  tracking_link: "The partner's link; only while the partner may run the offer",
  "Event.code": "The code that reports use; case matters",
  event_code: "Code of the event",
  "Postback.event_code": "Only conversions of this event; null for all events that are not private",
  "PayoutOverride.event_code":
    "Only for this event; null for the default event, `*` for all events of the offer that have the same type",
  event_id: "The event of the offer",
  is_default: "Whether it is used if none is named",
  "events.code": "The code that reports use; case matters",
  "events.name": "Name of the event for people",
  hold_days:
    "Days for which a new conversion that would be approved is `pending` before it is approved automatically; fractions are allowed, 0 is no hold. With `default_status` `pending` nothing is approved automatically",
  "AffiliateSettings.hold_days":
    "Replaces `hold_days` of the offers; 0 is no hold, null keeps the offers' value",
  min_seconds_to_conversion:
    "A conversion within fewer seconds after its click is rejected as `too_fast`; 0 is off",
  duplicate_click_seconds:
    "A visitor's second click within this many seconds goes to the fallback as `duplicate`; 0 is off",
  unique_click_hours: "Only a visitor's first click within this many hours is unique",
  fraud_checks:
    "Checks of conversions; a conversion that a check finds is rejected as `fraud:<check>`. All are off by default",
  "OfferSettings.fraud_checks": "Replaces the workspace's checks; null keeps them",
  "fraud_checks.bot": "The click came from a known crawler or without a user agent",
  "fraud_checks.datacenter": "The click's address belongs to a hosting network",
  "fraud_checks.proxy_hint": "The click came through a proxy that identifies itself in its headers",
  "fraud_checks.headless": "The click came from an automated browser",
  "fraud_checks.missing_ua": "The click had no user agent",
  "fraud_checks.duplicate_click_ip":
    "More than this many clicks from one address on the offer in 24 hours; null is off",
  "fraud_checks.duplicate_conv_ip":
    "This many earlier conversions from one address in 24 hours; null is off",
  "fraud_checks.duplicate_conv_subnet24":
    "This many earlier conversions from one /24 network (IPv6: /48) in 24 hours; null is off",
  terms: "Text that a partner must accept before it runs the offer; null for none",
  keep_acceptance:
    "With new `terms`: partners that accepted the old ones need not accept again. Without it all partners must accept again",
  "OfferTerms.hash": "SHA-256 of the text, for accepting exactly this text; null without terms",
  "acceptOfferTerms.hash": "The hash that came with the terms",
  accepted: "Whether the partner has accepted these terms",
  accepted_at: "When the partner accepted them; null when it has not",
  fail_route_offer_id:
    "The offer that gets the clicks that this one refuses, before any fallback; null for none",
  warnings:
    "What is probably wrong with the macros of a `destination_url` in the body; left out if nothing is",
  pass_parameters:
    "Parameters of a link that reach the landing page, unless `destination_url` has one of that name: `utm` passes those that begin with `utm_`, `all` also those that have no column of their own. `GET /offers/{id}/settings` shows it",
};

const LIMITS: Notes = {
  ...Object.fromEntries(
    ["caps", "budget_caps"].flatMap((name) => [
      [`${name}.conversions`, "Pending and approved conversions"],
      [`${name}.clicks`, "Clicks that were sent to the offer"],
      [`${name}.payout`, "Sum of payouts"],
      [`${name}.revenue`, "Sum of revenues"],
      [`${name}.alert_only`, "A reached limit is only recorded and refuses nothing"],
    ]),
  ),
  hourly: "For each hour",
  daily: "For each day",
  weekly: "For each week from Monday",
  monthly: "For each month",
  total: "For all time",
  countries_allow: "ISO 3166 alpha-2 codes; an unknown country is not allowed",
  countries_deny: "ISO 3166 alpha-2 codes",
  regions_allow: "Names of regions",
  cities_allow: "Names of cities",
  devices_allow: "`desktop`, `mobile`, `tablet`, `other`",
  devices_deny: "`desktop`, `mobile`, `tablet`, `other`",
  os_allow: "Names such as `iOS`",
  os_deny: "Names such as `iOS`",
  browsers_allow: "Names such as `Chrome`",
  browsers_deny: "Names such as `Chrome`",
  languages_allow: "Language codes such as `en`",
  connection:
    "`no_proxy` refuses visitors who come through a proxy that identifies itself in its headers",
  schedule: "When visitors are accepted",
  "schedule.tz": "Time zone of days and hours; the workspace's by default",
  "schedule.days": "Days of the week, 1 is Monday; none is every day",
  "schedule.hours": "Hours of the day, 0 to 23; none is every hour",
  "schedule.starts_at": "Closed before this time",
  "schedule.ends_at": "Closed from this time on",
};

const ACCOUNTS: Notes = {
  affiliate_id: "The partner",
  "Key.affiliate_id": "The account of a partner's key, null for other roles",
  "AdCost.affiliate_id": "The partner it was spent through; null for none in particular",
  "SmartLink.affiliate_id": "The partner who gets the clicks; null if each link names one",
  "TrackingDomainAssignment.affiliate_id":
    "Links of this partner get the domain; null for any partner",
  "Click.affiliate_id": "The partner, 0 when there is none",
  "Conversion.affiliate_id": "The partner, null when there is none",
  "Postback.affiliate_id": "The partner that receives it; null fires for every partner",
  affiliate_code: "Short name of the partner in links",
  affiliate_name: "Name of the partner",
  "Affiliate.code": "Short name in links, unique in the workspace; generated if left out",
  "Affiliate.status": "Only an `active` partner's clicks are accepted; others go to the fallback",
  "Affiliate.currency": "ISO 4217 code; the workspace's by default",
  "PartnerAccess.status": "Whether the partner may run the offer",
  requested_at: "When the partner asked, null when it did not",
  decided_at: "When it was decided, null while it is not",
  approved_at: "When it became active for the first time",
  company: "Name of the company",
  contact_name: "Contact person",
  email: "E-mail address",
  phone: "Telephone number",
  website: "Address of the website",
  messenger: "Name in a messenger",
  traffic_sources: "Where the partner's visitors come from, as free text",
  tier: "Class of the partner, as free text",
  manager_id: "The user of the workspace who looks after the partner",
  account_manager_id: "The user of the workspace who looks after the advertiser; null for none",
  payment_method: "How the partner is paid out",
  payment_details: "Account to pay to: texts by name; only admin keys see them",
  payment_terms: "When the partner is paid out, such as `net30`",
  billing_terms: "When the advertiser pays, such as `net30`",
  min_payout: "Minimum sum at which the partner is paid out",
  throttle_percent:
    "Percentage of the partner's conversions that become `pending` as `throttled`; 0 is none",
  "Advertiser.status":
    "Clicks on the offers of an advertiser that is not `active` go to the fallback",
  "Advertiser.currency": "ISO 4217 code; default of its new offers",
  postback_token: "The `token` in its reports of conversions; only admin keys see it",
  postback_ip_allowlist:
    "Addresses and CIDR ranges from which the advertiser may report; others are rejected. Empty: from anywhere",
  "Creative.kind": "Kind of the creative",
  "Creative.url": "Address of the image or of the page",
  "Creative.body": "Text or HTML; `{tracking_link}` becomes the partner's link",
  "Creative.status": "Partners see only active ones",
  width: "Pixels",
  height: "Pixels",
  title: "Title for partners",
  coupon_code: "Code that buyers enter",
  landing_url: "Page of the deal",
  starts_at: "Start; null for immediately",
  ends_at: "End; null for none",
  "Deal.status": "Partners see only active ones",
  "ProductFeed.status": "Partners see only active ones",
  feed_url: "Address of the feed",
  format: "Format of the feed",
};

/** Offers and what limits them, and the accounts of both sides. */
export const CATALOG_NOTES: Notes = { ...RECORD, ...OFFER, ...LIMITS, ...ACCOUNTS };

import { z } from "zod";
import { DEFAULT_LANE_COUNT, LANE_COUNTS } from "../events/lanes.ts";

/*
 * The configuration of all workspaces, as ingress and the conversion processors use it. Records keep the field names of the contract,
 * of Postgres and of REST, so that no layer renames anything. Money and rates are decimal strings with four places; a percentage (cps,
 * rps) is in percent points (G45).
 */

const id = z.int().positive();
const money = z.string().regex(/^\d{1,14}\.\d{4}$/);
const words = z.array(z.string());

const FraudChecks = z.object({
  bot: z.boolean().default(false),
  datacenter: z.boolean().default(false),
  proxy_hint: z.boolean().default(false),
  headless: z.boolean().default(false),
  missing_ua: z.boolean().default(false),
  duplicate_click_ip: z.int().nullable().default(null),
  duplicate_conv_ip: z.int().nullable().default(null),
  duplicate_conv_subnet24: z.int().nullable().default(null),
});
export type FraudChecks = z.infer<typeof FraudChecks>;

export const Workspace = z.object({
  id,
  slug: z.string(),
  name: z.string(),
  brand_name: z.string(),
  timezone: z.string(),
  currency: z.string(),
  status: z.enum(["active", "inactive"]),
  default_fallback_url: z.string(),
  allowed_destinations: words,
  attribution_model: z.enum(["last", "first"]),
  advertiser_updates: z.boolean(),
  organic_affiliate_id: id.nullable(),
  email_attribution: z.boolean(),
  ip_storage: z.enum(["full", "truncated"]),
  fraud_checks: FraudChecks.partial(),
  forward_unknown_url: z.string(),
  postback_token: z.string(),
});
export type Workspace = z.infer<typeof Workspace>;

/** `{conversions|payout|revenue|clicks: {hourly, daily, weekly, monthly, total}, alert_only}` (G39). */
export const CAP_PERIODS = ["hourly", "daily", "weekly", "monthly", "total"] as const;
export type CapPeriod = (typeof CAP_PERIODS)[number];
const countCap = z.partialRecord(z.enum(CAP_PERIODS), z.int().nonnegative());
const moneyCap = z.partialRecord(z.enum(CAP_PERIODS), z.string());
export const Caps = z
  .object({
    conversions: countCap,
    clicks: countCap,
    payout: moneyCap,
    revenue: moneyCap,
    alert_only: z.boolean(),
  })
  .partial();
export type Caps = z.infer<typeof Caps>;

/** Who may be sent to an offer (G41). Case is ignored; an empty country fails every allow list. */
export const Targeting = z
  .object({
    countries_allow: words,
    countries_deny: words,
    regions_allow: words,
    cities_allow: words,
    devices_allow: words,
    devices_deny: words,
    os_allow: words,
    os_deny: words,
    browsers_allow: words,
    browsers_deny: words,
    languages_allow: words,
    connection: z.enum(["any", "no_proxy"]),
    schedule: z
      .object({
        tz: z.string(),
        /** ISO days, 1 is Monday. */
        days: z.array(z.int().min(1).max(7)),
        hours: z.array(z.int().min(0).max(23)),
        starts_at: z.string().nullable(),
        ends_at: z.string().nullable(),
      })
      .partial(),
  })
  .partial();
export type Targeting = z.infer<typeof Targeting>;

export const Advertiser = z.object({
  id,
  workspace_id: id,
  name: z.string(),
  status: z.enum(["active", "paused", "inactive"]),
  postback_token: z.string(),
  postback_ip_allowlist: words,
  budget_caps: Caps,
});
export type Advertiser = z.infer<typeof Advertiser>;

export const OfferEvent = z.object({
  id,
  offer_id: id,
  code: z.string(),
  name: z.string(),
  revenue_type: z.enum(["rpa", "rps", "rpc"]),
  revenue: money,
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout: money,
  is_default: z.boolean(),
  is_private: z.boolean(),
  allow_multiple: z.boolean(),
});
export type OfferEvent = z.infer<typeof OfferEvent>;

export const Offer = z.object({
  id,
  workspace_id: id,
  advertiser_id: id,
  code: z.string(),
  name: z.string(),
  status: z.enum(["active", "paused"]),
  visibility: z.enum(["public", "approval", "private"]),
  destination_url: z.string(),
  fallback_url: z.string(),
  allowed_domains: words,
  currency: z.string(),
  revenue_type: z.enum(["rpa", "rps", "rpc"]),
  revenue: money,
  payout_type: z.enum(["cpa", "cps", "cpc"]),
  payout: money,
  caps: Caps,
  targeting: Targeting,
  conversion_method: z.enum(["any", "pixel", "s2s"]),
  unique_per_click: z.boolean(),
  attribution_days: z.int().positive(),
  default_status: z.enum(["approved", "pending"]),
  /** Days, decimal ("0.5"), or "0": no hold (G98). */
  hold_days: z.string(),
  min_seconds_to_conversion: z.int().nonnegative(),
  /** 0: the duplicate-click rule is off (G145). */
  duplicate_click_seconds: z.int().nonnegative(),
  unique_click_hours: z.int().positive(),
  fraud_checks: FraudChecks.partial().nullable(),
  /** Not null: partners must have accepted these terms (G189). */
  terms: z.string().nullable(),
  fail_route_offer_id: id.nullable(),
  /** Of what an order number is unique (G220). A catalog of an earlier release has none. */
  txid_scope: z.enum(["offer", "event"]).default("offer"),
  /** Which parameters of a link the landing page gets (G244). Absent in records of a release before it. */
  pass_parameters: z.enum(["none", "utm", "all"]).default("none"),
});
export type Offer = z.infer<typeof Offer>;

export const Affiliate = z.object({
  id,
  workspace_id: id,
  code: z.string(),
  name: z.string(),
  status: z.enum(["active", "pending", "blocked", "rejected"]),
  throttle_percent: z.int().min(0).max(100),
  hold_days: z.string().nullable(),
});
export type Affiliate = z.infer<typeof Affiliate>;

export const OfferAccess = z.object({
  offer_id: id,
  affiliate_id: id,
  status: z.enum(["approved", "pending", "rejected"]),
  terms_accepted: z.boolean(),
});
export type OfferAccess = z.infer<typeof OfferAccess>;

/** A partner's own terms on events of an offer (G46); own-terms.ts decides which events. Nulls keep the offer's own payout or revenue. */
export const PayoutOverride = z.object({
  id,
  offer_id: id,
  affiliate_id: id,
  event_code: z.string().nullable(),
  payout_type: z.enum(["cpa", "cps"]).nullable(),
  payout: money.nullable(),
  revenue_type: z.enum(["rpa", "rps"]).nullable(),
  revenue: money.nullable(),
});
export type PayoutOverride = z.infer<typeof PayoutOverride>;

export const TrackingDomain = z.object({
  id,
  workspace_id: id,
  host: z.string(),
  scheme: z.enum(["https", "http"]),
  status: z.enum(["active", "inactive"]),
  is_default: z.boolean(),
  certification: z.enum(["certified", "pending", "not_certified"]),
});
export type TrackingDomain = z.infer<typeof TrackingDomain>;

/** A key that staff created for `/c/{key}`; `<offer_code>-<affiliate_code>` needs no record (G183). */
export const LinkKey = z.object({
  id,
  workspace_id: id,
  key: z.string(),
  offer_id: id,
  affiliate_id: id,
});
export type LinkKey = z.infer<typeof LinkKey>;

export const SmartLink = z.object({
  id,
  workspace_id: id,
  code: z.string(),
  name: z.string(),
  status: z.enum(["active", "paused"]),
  affiliate_id: id.nullable(),
  mode: z.enum(["weighted", "waterfall"]),
  rules: z.array(
    z.object({
      name: z.string(),
      conditions: Targeting,
      offers: z.array(z.object({ offer_id: id, weight: z.int().nonnegative() })),
    }),
  ),
});
export type SmartLink = z.infer<typeof SmartLink>;

export const TrafficSourceTemplate = z.object({
  id,
  workspace_id: id,
  name: z.string(),
  traffic_source: z.string(),
  params: z.record(z.string(), z.string()),
  source_id: z.string(),
  affiliate_ids: z.array(id),
});
export type TrafficSourceTemplate = z.infer<typeof TrafficSourceTemplate>;

export const TrafficControl = z.object({
  id,
  workspace_id: id,
  name: z.string(),
  status: z.enum(["active", "paused"]),
  conditions: z
    .object({
      affiliate_ids: z.array(id),
      offer_ids: z.array(id),
      source_ids: words,
      sub: z.record(z.string(), words),
      countries: words,
      ip_ranges: words,
      user_agent_contains: words,
    })
    .partial(),
  action: z.enum(["block", "forward"]),
  forward_offer_id: id.nullable(),
});
export type TrafficControl = z.infer<typeof TrafficControl>;

/** Offers that share caps (G105). Money caps are per currency of the offers, like budgets. */
export const OfferGroup = z.object({
  id,
  workspace_id: id,
  name: z.string(),
  offer_ids: z.array(id),
  caps: Caps,
});
export type OfferGroup = z.infer<typeof OfferGroup>;

/** Rejects or holds the conversions that meet every given condition (G100). An empty list counts as not given. */
export const ConversionRule = z.object({
  id,
  workspace_id: id,
  name: z.string(),
  /** Rules are evaluated in the order of position, then id. */
  position: z.int(),
  status: z.enum(["active", "paused"]),
  action: z.enum(["reject", "hold"]),
  conditions: z
    .object({
      offer_ids: z.array(id),
      affiliate_ids: z.array(id),
      event_codes: words,
      countries: words,
      methods: words,
      /** Decimal strings in the currency of the offer, inclusive. */
      min_sale_amount: z.string(),
      max_sale_amount: z.string(),
      sub: z.record(z.string(), words),
      max_seconds_since_click: z.int().nonnegative(),
    })
    .partial(),
});
export type ConversionRule = z.infer<typeof ConversionRule>;

/** A code that credits a partner without a click (G115). Unique in its workspace; case is ignored. */
export const Coupon = z.object({
  id,
  workspace_id: id,
  code: z.string(),
  /** Null: valid for every offer of the workspace, and the report names it. */
  offer_id: id.nullable(),
  affiliate_id: id,
  status: z.enum(["active", "inactive"]),
  /** UTC milliseconds; the first is inclusive, the last is exclusive. */
  starts_at_ms: z.int().nullable(),
  ends_at_ms: z.int().nullable(),
});
export type Coupon = z.infer<typeof Coupon>;

/** A host, or a host with a path prefix, to which no click is redirected (G142). Applies to the whole installation. */
export const BlocklistEntry = z.object({ id, entry: z.string() });
export type BlocklistEntry = z.infer<typeof BlocklistEntry>;

/** The same for one workspace, in addition to the installation's list (G201). */
export const WorkspaceBlocklistEntry = z.object({ id, workspace_id: id, entry: z.string() });
export type WorkspaceBlocklistEntry = z.infer<typeof WorkspaceBlocklistEntry>;

/** A code of an earlier system that still names the record (N112). Unique in its workspace and kind; case is ignored. */
export const CodeAlias = z.object({
  id,
  workspace_id: id,
  kind: z.enum(["offer", "affiliate", "smart_link"]),
  alias: z.string(),
  target_id: id,
});
export type CodeAlias = z.infer<typeof CodeAlias>;

/** A token that an advertiser replaced, good until this time, exclusive, UTC milliseconds. */
export const AdvertiserOldToken = z.object({
  id,
  advertiser_id: id,
  token: z.string(),
  good_until_ms: z.int(),
});
export type AdvertiserOldToken = z.infer<typeof AdvertiserOldToken>;

/** What all processes of an installation share. The first migration creates it. */
export const Installation = z.object({
  id,
  /** 64 hex digits: key of click ids and visitor hashes. */
  secret: z.string().regex(/^[0-9a-f]{64}$/),
  /** Number of click lanes. Copies of the catalog from before the field have four. */
  lanes: z
    .int()
    .refine((count) => LANE_COUNTS.includes(count))
    .default(DEFAULT_LANE_COUNT),
});
export type Installation = z.infer<typeof Installation>;

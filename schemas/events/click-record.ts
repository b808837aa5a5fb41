import { z } from "zod";
import { forEachSubId } from "./sub-ids.ts";

/** Stored length of a sub ID or another free parameter, in characters (G134). Longer values are cut. */
export const VALUE_LENGTH_MAX = 255;
/** Longest ad-platform click id, in characters. */
export const AD_CLICK_ID_LENGTH_MAX = 512;

export const LINK_TYPES = [
  "transparent",
  "affiliate",
  "smart",
  "server",
  "direct",
  "organic",
  "coupon",
] as const;
/** The path that made the click (G83). */
export type LinkType = (typeof LINK_TYPES)[number];

export const CLICK_STATUSES = ["redirect", "fallback", "blocked", "none"] as const;
/** How the visitor was answered (G82). */
export type ClickStatus = (typeof CLICK_STATUSES)[number];

export const DEVICE_TYPES = ["desktop", "mobile", "tablet", "bot", "other"] as const;
/** What the user agent says of the device (G155). */
export type DeviceType = (typeof DEVICE_TYPES)[number];

const KIND_LENGTH_MAX = 40;

const text = z.string().default("");
const flag = z.boolean().default(false);
const id = z.int().nonnegative().default(0);
const money = z
  .string()
  .regex(/^\d{1,14}\.\d{4}$/)
  .default("0.0000");

/**
 * One recorded click, decided by ingress before its answer and stored as it is: the names are the columns of ClickHouse's
 * `click` table and, where the contract names them, the fields of a click in the REST API. On the wire a field that has its default
 * is left out. Unknown values are "" and 0, as the contract shows them.
 */
export const ClickRecord = z.object({
  click_id: z.string().regex(/^[0-9a-f]{32}$/),
  /** UTC milliseconds since 1970; the same as in the id. */
  ts: z.int().nonnegative(),
  /** 0: belongs to no workspace, so that no key sees it and it cannot convert (G140). */
  workspace_id: id,
  /** A {@link LinkType}. A click of a newer release may have another type, and must be stored and found too. */
  link_type: z.string().min(1).max(KIND_LENGTH_MAX),
  /** A {@link ClickStatus}, or a status of a newer release. */
  status: z.string().min(1).max(KIND_LENGTH_MAX),
  /** The condition that was not met (G143), or why its `url=` was refused (G137) with status `blocked`. */
  status_reason: text,
  offer_id: id,
  advertiser_id: id,
  affiliate_id: id,
  smart_link_id: id,
  is_bot: flag,
  is_datacenter: flag,
  is_proxy: flag,
  is_headless: flag,
  missing_ua: flag,
  /** False for HEAD requests and bots, which are never unique (G87). The writer decides for the others. */
  may_be_unique: flag,
  /** In its stored form: whole, or truncated to /24 or /48 (`ip_storage`). */
  ip: text,
  /** Keyed 52-bit hash of the whole address and the user agent: the same visitor within an installation (G87, G145). */
  visitor: z.int().nonnegative().default(0),
  user_agent: text,
  referrer: text,
  referrer_host: text,
  language: text,
  country: text,
  region: text,
  city: text,
  asn: id,
  as_name: text,
  device_type: text,
  os: text,
  os_version: text,
  browser: text,
  browser_version: text,
  traffic_source: text,
  source_id: text,
  ...forEachSubId(text),
  gclid: text,
  gbraid: text,
  wbraid: text,
  msclkid: text,
  fbclid: text,
  ttclid: text,
  ext_campaign_id: text,
  ext_adgroup_id: text,
  ext_ad_id: text,
  ext_keyword: text,
  ext_placement: text,
  ext_matchtype: text,
  ext_network: text,
  ext_device: text,
  ext_device_model: text,
  ext_target_id: text,
  ext_loc_physical: text,
  ext_loc_interest: text,
  ext_feed_item_id: text,
  ext_ad_position: text,
  /** Tracking host of the request, without port 80 or 443. */
  domain: text,
  /** The URL redirected to; "" when there was none. */
  destination: text,
  /** Parameters that map to no column, as a JSON object of strings; "" when there are none. */
  extra: text,
  /** The offer's per-click payout and revenue in `currency` at click time, for cpc and rpc offers (G71). */
  click_payout: money,
  click_revenue: money,
  currency: text,
  /** Version of the catalog that decided. */
  catalog_version: id,
});
export type ClickRecord = z.infer<typeof ClickRecord>;

/** One impression (G157): an impression has no id, no uniqueness and no destination. */
export const ImpressionRecord = ClickRecord.pick({
  ts: true,
  workspace_id: true,
  offer_id: true,
  advertiser_id: true,
  affiliate_id: true,
  is_bot: true,
  country: true,
  region: true,
  city: true,
  device_type: true,
  os: true,
  browser: true,
  traffic_source: true,
  source_id: true,
  ...forEachSubId(true as const),
  ext_campaign_id: true,
  ext_adgroup_id: true,
  ext_ad_id: true,
  ext_keyword: true,
  ext_placement: true,
  domain: true,
}).extend({ creative_id: text });
export type ImpressionRecord = z.infer<typeof ImpressionRecord>;

import type { Affiliate, Workspace } from "../../schemas/catalog/records.ts";
import type { ClickRecord, LinkType } from "../../schemas/events/click-record.ts";
import type { ClickParameters } from "../request/parameters.ts";
import type { Visit } from "../request/visit.ts";
import { type Outcome, storedIp } from "./decide-click.ts";

const NO_MONEY = "0.0000";

/** What is known of a click when it has been decided. */
export type DecidedClick = {
  readonly atMs: number;
  readonly linkType: LinkType;
  readonly outcome: Outcome;
  /** Undefined for a click that belongs to no workspace (G140). */
  readonly workspace: Workspace | undefined;
  readonly affiliate: Affiliate | undefined;
  readonly smartLinkId: number;
  readonly visit: Visit;
  readonly parameters: ClickParameters;
  readonly catalogVersion: number;
};

/** The record of a click. One literal: all records have one shape, which is what makes them cheap to encode. */
// oxlint-disable-next-line max-lines-per-function -- one field a line; put together from parts it would have many shapes.
export function clickRecord(decided: DecidedClick): ClickRecord {
  const { outcome, workspace, visit, parameters } = decided;
  const { values } = parameters;
  const { device, place } = visit;
  const { offer } = outcome;
  const rates = ratesOf(outcome, visit);
  return {
    click_id: outcome.clickId,
    ts: decided.atMs,
    workspace_id: workspace?.id ?? 0,
    link_type: decided.linkType,
    status: outcome.status,
    status_reason: outcome.reason,
    offer_id: offer?.id ?? 0,
    advertiser_id: offer?.advertiser_id ?? 0,
    affiliate_id: decided.affiliate?.id ?? 0,
    smart_link_id: decided.smartLinkId,
    is_bot: visit.isBot,
    is_datacenter: place.isDatacenter,
    is_proxy: visit.isProxy,
    is_headless: device.isHeadless,
    missing_ua: device.missingUa,
    may_be_unique: !visit.isBot && workspace !== undefined && outcome.status !== "blocked",
    ip: storedIp(workspace, visit.ip),
    visitor: visit.visitor,
    user_agent: visit.userAgent,
    referrer: visit.referrer,
    referrer_host: visit.referrerHost,
    language: visit.language,
    country: place.country,
    region: place.region,
    city: place.city,
    asn: place.asn,
    as_name: place.asName,
    device_type: device.deviceType,
    os: device.os,
    os_version: device.osVersion,
    browser: device.browser,
    browser_version: device.browserVersion,
    traffic_source: values.traffic_source,
    source_id: values.source_id,
    sub1: values.sub1,
    sub2: values.sub2,
    sub3: values.sub3,
    sub4: values.sub4,
    sub5: values.sub5,
    sub6: values.sub6,
    sub7: values.sub7,
    sub8: values.sub8,
    sub9: values.sub9,
    sub10: values.sub10,
    gclid: values.gclid,
    gbraid: values.gbraid,
    wbraid: values.wbraid,
    msclkid: values.msclkid,
    fbclid: values.fbclid,
    ttclid: values.ttclid,
    ext_campaign_id: values.ext_campaign_id,
    ext_adgroup_id: values.ext_adgroup_id,
    ext_ad_id: values.ext_ad_id,
    ext_keyword: values.ext_keyword,
    ext_placement: values.ext_placement,
    ext_matchtype: values.ext_matchtype,
    ext_network: values.ext_network,
    ext_device: values.ext_device,
    ext_device_model: values.ext_device_model,
    ext_target_id: values.ext_target_id,
    ext_loc_physical: values.ext_loc_physical,
    ext_loc_interest: values.ext_loc_interest,
    ext_feed_item_id: values.ext_feed_item_id,
    ext_ad_position: values.ext_ad_position,
    domain: visit.domain,
    destination: outcome.location,
    extra: parameters.extra,
    click_payout: rates.payout,
    click_revenue: rates.revenue,
    currency: rates.currency,
    catalog_version: decided.catalogVersion,
  };
}

type Rates = { readonly payout: string; readonly revenue: string; readonly currency: string };

const NO_RATES: Rates = { payout: NO_MONEY, revenue: NO_MONEY, currency: "" };

/** What the click itself earns if it is unique: only offers paid per click, only people who were sent on (G71). */
function ratesOf({ offer, status }: Outcome, visit: Visit): Rates {
  if (offer === undefined || status !== "redirect" || visit.isBot) return NO_RATES;
  const isPaid = offer.payout_type === "cpc";
  const isBilled = offer.revenue_type === "rpc";
  if (!isPaid && !isBilled) return NO_RATES;
  return {
    payout: isPaid ? offer.payout : NO_MONEY,
    revenue: isBilled ? offer.revenue : NO_MONEY,
    currency: offer.currency,
  };
}

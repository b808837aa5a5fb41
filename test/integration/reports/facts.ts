import { randomUUID } from "node:crypto";
import type { LedgerClick, LedgerConversion, LedgerImpression } from "./ledger.ts";
import type { ReportWorld } from "./report-world.ts";

/** Rows with defaults: a redirect, an impression, or an approved sale in USD, on the first offer by the first partner. */
export function aClick(world: ReportWorld, fields: Partial<LedgerClick> = {}): LedgerClick {
  const ts = fields.ts ?? Date.parse("2025-02-03T10:00:00Z");
  return {
    ...attributes(world),
    click_id: world.mint.mint(ts, (fields.offer_id ?? world.seed.offerIds[0]) % 4),
    link_type: "affiliate",
    status: "redirect",
    status_reason: "",
    smart_link_id: 0,
    is_unique: true,
    is_bot: false,
    is_datacenter: false,
    referrer_host: "",
    language: "",
    os_version: "",
    as_name: "",
    gclid: "",
    destination: "https://shop.example/",
    click_payout: "0.0000",
    click_revenue: "0.0000",
    currency: "USD",
    ...fields,
    ts,
  };
}

export function anImpression(
  world: ReportWorld,
  fields: Partial<LedgerImpression> = {},
): LedgerImpression {
  return {
    ...attributes(world),
    ts: Date.parse("2025-02-03T10:00:00Z"),
    creative_id: "",
    ...fields,
  };
}

export function aConversion(
  world: ReportWorld,
  fields: Partial<LedgerConversion> = {},
): LedgerConversion {
  return {
    ...attributes(world),
    id: randomUUID(),
    version: 1,
    conv_ts: Date.parse("2025-02-03T11:00:00Z"),
    click_ts: null,
    link_type: "affiliate",
    smart_link_id: 0,
    event_code: "sale",
    is_private: false,
    is_duplicate: false,
    status: "approved",
    status_reason: "",
    revenue: "15.0000",
    payout: "10.0000",
    sale_amount: "0.0000",
    currency: "USD",
    method: "s2s",
    ...fields,
  };
}

function attributes({ seed }: ReportWorld) {
  return {
    workspace_id: seed.workspaceId,
    offer_id: seed.offerIds[0],
    advertiser_id: seed.advertiserIds[0],
    affiliate_id: seed.affiliateIds[0],
    country: "US",
    region: "",
    city: "",
    device_type: "desktop",
    os: "Linux",
    browser: "Firefox",
    traffic_source: "",
    source_id: "",
    sub1: "",
    sub2: "",
    sub10: "",
    ext_campaign_id: "",
    ext_adgroup_id: "",
    ext_ad_id: "",
    ext_keyword: "",
    ext_placement: "",
    domain: "go.example",
  };
}

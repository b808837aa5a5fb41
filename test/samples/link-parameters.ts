/*
 * Parameters of links: the column in which each is stored, and the traffic source that they imply (G134, G135).
 */
import { SLOTS, type Slot } from "../../ingress/request/parameters.ts";

type Column = readonly [slot: Slot, names: readonly string[]];

const SUB_IDS = SLOTS.slice(0, 10).map((slot, i): Column => {
  const n = i + 1;
  return n === 1
    ? [slot, ["sub1", "s1", "aff_sub", "subid", "subid1", "sub_id1"]]
    : [slot, [`sub${n}`, `s${n}`, `aff_sub${n}`, `subid${n}`]];
});

/** The documented name comes first. */
export const PARAMETER_COLUMNS: readonly Column[] = [
  ...SUB_IDS,
  ["source_id", ["source_id", "source", "src"]],
  ...(["gclid", "gbraid", "wbraid", "msclkid", "fbclid"] as const).map((id): Column => [id, [id]]),
  ["ext_campaign_id", ["campaignid", "campaign_id"]],
  ["ext_adgroup_id", ["adgroupid", "adgroup_id"]],
  ["ext_ad_id", ["creative", "adid", "ad_id"]],
  ["ext_keyword", ["keyword", "kw"]],
  ["ext_placement", ["placement"]],
  ["ext_matchtype", ["matchtype"]],
  ["ext_network", ["network"]],
  ["ext_device", ["device"]],
  ["ext_device_model", ["devicemodel"]],
  ["ext_target_id", ["targetid"]],
  ["ext_loc_physical", ["loc_physical_ms"]],
  ["ext_loc_interest", ["loc_interest_ms"]],
  ["ext_feed_item_id", ["feeditemid"]],
  ["ext_ad_position", ["adposition"]],
  ["traffic_source", ["traffic_source", "ts", "utm_source"]],
];

export const TRAFFIC_SOURCES: readonly (readonly [query: string, source: string])[] = [
  ["gclid=1", "google"],
  ["gbraid=1", "google"],
  ["wbraid=1", "google"],
  ["msclkid=1", "bing"],
  ["fbclid=1", "facebook"],
  ["ttclid=1", "tiktok"],
  ["gclid={gclid}&fbclid=1", "facebook"],
  ["gclid=1&utm_source=mail", "mail"],
  ["fbclid=1&utm_source=mail", "mail"],
  ["sub1=x", ""],
];

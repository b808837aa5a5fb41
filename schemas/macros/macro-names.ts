const SUB_NAMES = [
  "sub1",
  "sub2",
  "sub3",
  "sub4",
  "sub5",
  "sub6",
  "sub7",
  "sub8",
  "sub9",
  "sub10",
] as const;

/** Macros of an offer's `destination_url` and `fallback_url` (G148). Never expanded inside `url=`. */
export const DESTINATION_MACROS = [
  "click_id",
  ...SUB_NAMES,
  "source_id",
  "offer_id",
  "offer_code",
  "affiliate_id",
  "affiliate_code",
  "gclid",
  "gbraid",
  "wbraid",
  "msclkid",
  "fbclid",
  "campaignid",
  "adgroupid",
  "keyword",
  "country",
  "city",
  "device",
  "os",
  "ip",
  "random",
  "timestamp",
] as const;
export type DestinationMacro = (typeof DESTINATION_MACROS)[number];

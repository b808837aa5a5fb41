/** Ad IDs: fields of a click, of its copy in conversions, and of a webhook's document. */
export const AD_IDS = ["gclid", "gbraid", "wbraid", "msclkid", "fbclid", "ttclid"] as const;

/**
 * Columns of a click that describe its visitor, with their empty values. No report groups by them. `visitor`, a keyed hash, is not among
 * them: it prevents a second click of the same visitor from being paid as unique.
 */
export const PERSONAL_COLUMNS = {
  ip: "''",
  user_agent: "''",
  referrer: "''",
  language: "''",
  asn: "0",
  as_name: "''",
  os_version: "''",
  browser_version: "''",
  destination: "''",
  extra: "''",
  gclid: "''",
  gbraid: "''",
  wbraid: "''",
  msclkid: "''",
  fbclid: "''",
  ttclid: "''",
} as const;
export type PersonalColumn = keyof typeof PERSONAL_COLUMNS;

/** Parameters of an inbound call that describe its visitor, in lower case. */
export const PERSONAL_PARAMS: readonly string[] = [
  ...AD_IDS,
  "user_ip",
  "client_ip",
  "ip",
  "user_agent",
  "ua",
  "referrer",
  "referer",
  "email",
  "em",
  "phone",
  "ph",
];

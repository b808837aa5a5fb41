/** Groups of a click's fields, with the words of people. A field that a newer release adds stands in the last group, by its own name. */
const CLICK_GROUPS: readonly (readonly [
  title: string,
  fields: Readonly<Record<string, string>>,
])[] = [
  [
    "Visitor",
    {
      country: "Country",
      region: "Region",
      city: "City",
      device_type: "Device",
      os: "Operating system",
      os_version: "Version of the system",
      browser: "Browser",
      browser_version: "Version of the browser",
      language: "Language",
      ip: "IP address",
      as_name: "Network",
      asn: "Number of the network",
      user_agent: "User agent",
      is_unique: "First click of the visitor",
      visitor: "Visitor",
    },
  ],
  [
    "Signs of a bot",
    {
      is_bot: "Known crawler",
      is_datacenter: "From a data centre",
      is_proxy: "Through a proxy",
      is_headless: "Automated browser",
      missing_ua: "No user agent",
    },
  ],
  [
    "Source",
    {
      traffic_source: "Traffic source",
      source_id: "Source of the partner",
      referrer: "Came from",
      referrer_host: "Site",
      ...Object.fromEntries(
        Array.from({ length: 10 }, (_none, at) => [`sub${at + 1}`, `Sub ${at + 1}`]),
      ),
    },
  ],
  [
    "Ad platform",
    {
      gclid: "gclid of Google Ads",
      gbraid: "gbraid of Google Ads",
      wbraid: "wbraid of Google Ads",
      msclkid: "msclkid of Microsoft Ads",
      fbclid: "fbclid of Meta",
      ttclid: "ttclid of TikTok",
      ext_campaign_id: "Campaign",
      ext_adgroup_id: "Ad group",
      ext_ad_id: "Ad",
      ext_keyword: "Keyword",
      ext_placement: "Placement",
      ext_matchtype: "Match type",
      ext_network: "Network of the platform",
      ext_device: "Device by the platform",
      ext_device_model: "Model of the device",
      ext_target_id: "Target",
      ext_loc_physical: "Location of the visitor",
      ext_loc_interest: "Location of interest",
      ext_feed_item_id: "Extension",
      ext_ad_position: "Position",
    },
  ],
  [
    "Technical",
    {
      domain: "Tracking domain",
      catalog_version: "Version of the settings",
    },
  ],
];

/** Shown in words at the top, or of no use to a person. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "ts",
  "workspace_id",
  "link_type",
  "status",
  "status_reason",
  "offer_id",
  "advertiser_id",
  "affiliate_id",
  "smart_link_id",
  "destination",
  "currency",
]);
const isElsewhere = (name: string): boolean => ELSEWHERE.has(name) || name.startsWith("click_");
const LAST = CLICK_GROUPS.length - 1;

type ClickGroup = {
  readonly title: string;
  readonly rows: readonly (readonly [words: string, name: string, value: unknown])[];
};

/** The fields of a click in groups. Empty fields and empty groups are left out. */
export function clickGroups(click: Readonly<Record<string, unknown>>): readonly ClickGroup[] {
  const known = new Set(CLICK_GROUPS.flatMap(([, fields]) => Object.keys(fields)));
  const others = Object.keys(click).filter((name) => !known.has(name) && !isElsewhere(name));
  return CLICK_GROUPS.map(([title, fields], at): ClickGroup => {
    const named = Object.entries(fields);
    const more = others.map((name) => [name, name.replaceAll("_", " ")] as const);
    const rows = (at === LAST ? [...named, ...more] : named)
      .map(([name, words]) => [words, name, click[name]] as const)
      .filter(([, , value]) => !isEmpty(value));
    return { title, rows };
  }).filter(({ rows }) => rows.length > 0);
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === null || value === undefined || value === false || value === 0;
}

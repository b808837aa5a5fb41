import { Catalog } from "../../schemas/catalog/catalog.ts";
import {
  type CatalogEntry,
  type CatalogKind,
  parseCatalogEntry,
} from "../../schemas/catalog/entry.ts";
import type {
  Advertiser,
  AdvertiserOldToken,
  Affiliate,
  CodeAlias,
  Offer,
  OfferAccess,
  OfferGroup,
  SmartLink,
  TrackingDomain,
  TrafficControl,
  TrafficSourceTemplate,
  Workspace,
} from "../../schemas/catalog/records.ts";

/** Records of a catalog by kind. Missing fields have defaults that let every click pass. */
export type CatalogParts = {
  readonly workspaces?: readonly Partial<Workspace>[];
  readonly advertisers?: readonly Partial<Advertiser>[];
  readonly offers?: readonly Partial<Offer>[];
  readonly affiliates?: readonly Partial<Affiliate>[];
  readonly groups?: readonly Partial<OfferGroup>[];
  readonly access?: readonly (Partial<OfferAccess> & { offer_id: number; affiliate_id: number })[];
  readonly domains?: readonly Partial<TrackingDomain>[];
  readonly linkKeys?: readonly { key: string; workspace_id?: number; offer_id?: number }[];
  readonly smartLinks?: readonly Partial<SmartLink>[];
  readonly templates?: readonly Partial<TrafficSourceTemplate>[];
  readonly controls?: readonly Partial<TrafficControl>[];
  readonly aliases?: readonly (Partial<CodeAlias> & { alias: string })[];
  readonly oldTokens?: readonly (Partial<AdvertiserOldToken> & { token: string })[];
  readonly blocklist?: readonly string[];
  readonly workspaceBlocklist?: readonly {
    readonly entry: string;
    readonly workspace_id: number;
  }[];
};

export const SECRET = "5e".repeat(32);

/** One workspace (1), advertiser (1), offer (1, `SHOP`) and partner (1, `PART01`), unless the parts say otherwise. */
export function aCatalog(parts: CatalogParts = {}): Catalog {
  const catalog = new Catalog();
  apply(catalog, { ...parts, ...withFirst(parts) });
  catalog.apply([entryOf("installation", { id: 1, secret: SECRET }, 1)]);
  return catalog;
}

/** Adds records, or replaces those with the same id, like a change that arrives while clicks come in. */
export function apply(catalog: Catalog, parts: CatalogParts): void {
  let version = catalog.version;
  const add = (
    kind: CatalogKind,
    records: readonly object[] | undefined,
    defaults: object,
  ): void => {
    for (const [i, record] of (records ?? []).entries()) {
      version += 1;
      catalog.apply([
        entryOf(kind, { id: i + 1, workspace_id: 1, ...defaults, ...record }, version),
      ]);
    }
  };
  add("workspace", parts.workspaces, WORKSPACE);
  add("advertiser", parts.advertisers, ADVERTISER);
  add("offer", parts.offers, OFFER);
  add("affiliate", parts.affiliates, AFFILIATE);
  add("offer_group", parts.groups, { name: "Group", offer_ids: [], caps: {} });
  add("offer_access", parts.access, { status: "approved", terms_accepted: false });
  add("tracking_domain", parts.domains, DOMAIN);
  add("link_key", parts.linkKeys, { offer_id: 1, affiliate_id: 1 });
  add("smart_link", parts.smartLinks, SMART_LINK);
  add("traffic_source_template", parts.templates, TEMPLATE);
  add("traffic_control", parts.controls, CONTROL);
  add(
    "blocklist_entry",
    parts.blocklist?.map((entry) => ({ entry })),
    {},
  );
  add("workspace_blocklist_entry", parts.workspaceBlocklist, {});
  add("code_alias", parts.aliases, { kind: "offer", target_id: 1 });
  add("advertiser_old_token", parts.oldTokens, { advertiser_id: 1, good_until_ms: 0 });
}

function withFirst(parts: CatalogParts): CatalogParts {
  return {
    workspaces: parts.workspaces ?? [{}],
    advertisers: parts.advertisers ?? [{}],
    offers: parts.offers ?? [{}],
    affiliates: parts.affiliates ?? [{}],
  };
}

function entryOf(
  kind: CatalogKind,
  record: Record<string, unknown>,
  version: number,
): CatalogEntry {
  const id =
    kind === "offer_access"
      ? `${String(record["offer_id"])}-${String(record["affiliate_id"])}`
      : String(record["id"]);
  const entry = parseCatalogEntry({ kind, id, version, record });
  if (entry === undefined) throw new Error(`no catalog kind ${kind}`);
  return entry;
}

const WORKSPACE = {
  slug: "main",
  name: "Main",
  brand_name: "",
  timezone: "UTC",
  currency: "USD",
  status: "active",
  default_fallback_url: "",
  allowed_destinations: [],
  attribution_model: "last",
  advertiser_updates: true,
  organic_affiliate_id: null,
  email_attribution: false,
  ip_storage: "full",
  fraud_checks: {},
  forward_unknown_url: "",
  postback_token: "workspace-token",
};

const ADVERTISER = {
  name: "Shop Ltd",
  status: "active",
  postback_token: "advertiser-token",
  postback_ip_allowlist: [],
  budget_caps: {},
};

const OFFER = {
  advertiser_id: 1,
  code: "SHOP",
  name: "Shop",
  status: "active",
  visibility: "public",
  destination_url: "https://shop.example/buy?c={click_id}&s={sub1}",
  fallback_url: "",
  allowed_domains: [],
  currency: "USD",
  revenue_type: "rpa",
  revenue: "10.0000",
  payout_type: "cpa",
  payout: "7.0000",
  caps: {},
  targeting: {},
  conversion_method: "any",
  unique_per_click: true,
  txid_scope: "offer",
  attribution_days: 30,
  default_status: "approved",
  hold_days: "0",
  min_seconds_to_conversion: 0,
  duplicate_click_seconds: 0,
  unique_click_hours: 24,
  fraud_checks: null,
  terms: null,
  fail_route_offer_id: null,
  pass_parameters: "none",
};

const AFFILIATE = {
  code: "PART01",
  name: "Part",
  status: "active",
  throttle_percent: 0,
  hold_days: null,
};
const DOMAIN = {
  host: "trk.example",
  scheme: "https",
  status: "active",
  is_default: true,
  certification: "certified",
};
const SMART_LINK = {
  code: "smart",
  name: "Smart",
  status: "active",
  affiliate_id: null,
  mode: "weighted",
  rules: [],
};
const TEMPLATE = {
  name: "Source",
  traffic_source: "",
  params: {},
  source_id: "",
  affiliate_ids: [1],
};
const CONTROL = {
  name: "Rule",
  status: "active",
  conditions: {},
  action: "block",
  forward_offer_id: null,
};

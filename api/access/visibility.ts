import { z } from "zod";
import type { Role } from "./permissions.ts";

/*
 * Who sees which field of which resource: the only place that says so. An answer is built field by field from here, so a
 * field that is not listed is shown to nobody, and a hidden field is left out, never null (VIS-058).
 */

type Rule<Field extends string> = {
  readonly fields: readonly Field[];
  /** Left out for the role. */
  readonly hidden: Partial<Record<Role, readonly Field[]>>;
};

function rule<const Field extends string>(given: Rule<Field>): Rule<Field> {
  return given;
}

const SUBS_1_TO_5 = ["sub1", "sub2", "sub3", "sub4", "sub5"] as const;
const SUBS_6_TO_10 = ["sub6", "sub7", "sub8", "sub9", "sub10"] as const;
const ALL_SUBS = [...SUBS_1_TO_5, ...SUBS_6_TO_10] as const;

/** The address, and what tells fraud (G84). */
const FRAUD_SIGNS = [
  ...(["is_bot", "is_datacenter", "is_proxy", "is_headless", "missing_ua"] as const),
  ...(["ip", "visitor", "user_agent", "asn", "as_name"] as const),
] as const;

const PARTNER_ONLY = ["access_status", "can_run", "tracking_link"] as const;

export const VISIBILITY = {
  offer: rule({
    fields: [
      ...["id", "code", "name", "status", "visibility", "advertiser_id", "category", "description"],
      ...[
        "restrictions",
        "preview_url",
        "destination_url",
        "fallback_url",
        "allowed_domains",
        "currency",
      ],
      ...[
        "revenue_type",
        "revenue",
        "payout_type",
        "payout",
        "caps",
        "targeting",
        "conversion_method",
      ],
      ...[
        "unique_per_click",
        "attribution_days",
        "default_status",
        "thumbnail_url",
        "tags",
        "is_featured",
      ],
      ...["events", "created_at", "updated_at", ...PARTNER_ONLY],
    ],
    hidden: {
      admin: PARTNER_ONLY,
      analyst: PARTNER_ONLY,
      partner: [
        ...[
          "advertiser_id",
          "destination_url",
          "fallback_url",
          "allowed_domains",
          "revenue_type",
          "revenue",
        ],
        ...["caps", "default_status"],
      ],
      advertiser: ["payout_type", "payout", ...PARTNER_ONLY],
    },
  }),
  event: rule({
    fields: [
      ...["id", "code", "name", "revenue_type", "revenue", "payout_type", "payout", "is_default"],
      ...["is_private", "allow_multiple"],
    ],
    hidden: { partner: ["revenue_type", "revenue"], advertiser: ["payout_type", "payout"] },
  }),
  /** The caps object of an offer (G52). */
  caps: rule({
    fields: ["conversions", "payout", "revenue", "clicks", "alert_only"],
    hidden: { advertiser: ["payout"] },
  }),
  partner_access: rule({
    fields: [
      ...[
        "affiliate_id",
        "affiliate_code",
        "affiliate_name",
        "status",
        "note",
        "requested_at",
        "decided_at",
      ],
    ],
    hidden: {},
  }),
  affiliate: rule({
    fields: [
      ...[
        "id",
        "code",
        "name",
        "status",
        "company",
        "contact_name",
        "email",
        "phone",
        "website",
        "messenger",
      ],
      ...[
        "traffic_sources",
        "notes",
        "country",
        "tier",
        "manager_id",
        "payment_method",
        "payment_details",
      ],
      ...[
        "payment_terms",
        "min_payout",
        "currency",
        "tags",
        "approved_at",
        "created_at",
        "updated_at",
      ],
    ],
    hidden: { analyst: ["payment_details"] },
  }),
  advertiser: rule({
    fields: [
      ...[
        "id",
        "name",
        "status",
        "company",
        "contact_name",
        "email",
        "phone",
        "website",
        "country",
        "notes",
      ],
      ...[
        "currency",
        "account_manager_id",
        "billing_terms",
        "tags",
        "postback_token",
        "created_at",
        "updated_at",
      ],
    ],
    hidden: { analyst: ["postback_token"] },
  }),
  conversion: rule({
    fields: [
      ...[
        "id",
        "click_id",
        "offer_id",
        "offer_name",
        "affiliate_id",
        "affiliate_code",
        "affiliate_name",
      ],
      ...[
        "advertiser_id",
        "smart_link_id",
        "event_id",
        "event_code",
        "status",
        "status_reason",
        "is_duplicate",
      ],
      ...[
        "revenue",
        "payout",
        "sale_amount",
        "currency",
        "adv_txid",
        "method",
        "click_ts",
        "conv_ts",
        "domain",
      ],
      ...[
        "link_type",
        ...SUBS_1_TO_5,
        "source_id",
        "traffic_source",
        "gclid",
        "gbraid",
        "wbraid",
        "fbclid",
      ],
      ...["ext_campaign_id", "ext_adgroup_id", "ext_ad_id", "ext_keyword", "ext_placement"],
      ...[
        "country",
        "region",
        "city",
        "device_type",
        "os",
        "browser",
        "conv_ip",
        "params",
        "notes",
      ],
      ...["created_at", "updated_at"],
    ],
    hidden: {
      partner: ["revenue", "advertiser_id", "adv_txid", "params", "notes", "conv_ip"],
      advertiser: [
        ...[
          "payout",
          "affiliate_code",
          "affiliate_name",
          ...SUBS_1_TO_5,
          "source_id",
          "smart_link_id",
        ],
        ...["conv_ip", "notes"],
      ],
    },
  }),
  /** Of the history of a conversion: money as in the conversion; who of the staff it was is not for others. */
  conversion_change: rule({
    fields: [
      ...["at", "actor", "key_id", "from_status", "to_status", "reason"],
      ...["from_revenue", "to_revenue", "from_payout", "to_payout"],
      ...["from_sale_amount", "to_sale_amount"],
    ],
    hidden: {
      partner: ["key_id", "from_revenue", "to_revenue"],
      advertiser: ["key_id", "from_payout", "to_payout"],
    },
  }),
  /** Of the list and of the detail, which has every stored column and `extra`. */
  click: rule({
    fields: [
      ...["click_id", "ts", "link_type", "status", "status_reason", "offer_id", "offer_label"],
      ...["affiliate_id", "affiliate_label", "smart_link_id", "is_unique", ...FRAUD_SIGNS],
      ...["country", "city", "device_type", "os", "browser", "traffic_source", ...ALL_SUBS],
      ...["source_id", "gclid", "ext_campaign_id", "ext_keyword", "domain", "destination"],
      ...["workspace_id", "advertiser_id", "referrer", "referrer_host", "language", "region"],
      ...["os_version", "browser_version", "gbraid", "wbraid", "msclkid", "fbclid", "ttclid"],
      ...["ext_adgroup_id", "ext_ad_id", "ext_placement", "ext_matchtype", "ext_network"],
      ...["ext_device", "ext_device_model", "ext_target_id", "ext_loc_physical"],
      ...["ext_loc_interest", "ext_feed_item_id", "ext_ad_position", "extra", "click_payout"],
      ...["click_revenue", "currency", "catalog_version"],
    ],
    hidden: {
      partner: [...FRAUD_SIGNS, "destination", "advertiser_id", "click_revenue"],
      advertiser: [
        ...[...FRAUD_SIGNS, "affiliate_label", "smart_link_id", ...ALL_SUBS, "source_id"],
        // Parameters that map to no column are the partner's, sub IDs among them; a referrer is a page of the partner.
        ...["extra", "referrer", "click_payout"],
      ],
    },
  }),
} as const satisfies Record<string, Rule<string>>;

export type Resource = keyof typeof VISIBILITY;

const VISIBLE = new Map<string, readonly string[]>();

/** Names of the fields a role sees, in their order. */
function visibleFields(resource: Resource, role: Role): readonly string[] {
  const key = `${resource} ${role}`;
  const known = VISIBLE.get(key);
  if (known !== undefined) return known;
  const { fields, hidden }: Rule<string> = VISIBILITY[resource];
  const names = fields.filter((field) => hidden[role]?.includes(field) !== true);
  VISIBLE.set(key, names);
  return names;
}

/** Whether the role sees a field of the resource; nobody sees one that is not listed. */
export function isShown(role: Role, resource: Resource, field: string): boolean {
  return visibleFields(resource, role).includes(field);
}

/** The record as the role sees it; fields that it does not have stay absent. */
export function showTo(
  role: Role,
  resource: Resource,
  record: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const field of visibleFields(resource, role)) {
    if (record[field] !== undefined) shown[field] = record[field];
  }
  return shown;
}

/** The schema of a resource over all roles: a field that some role does not see is optional. */
export function shownSchema(resource: Resource, shape: z.ZodRawShape): z.ZodObject {
  const { hidden }: Rule<string> = VISIBILITY[resource];
  const sometimes = new Set(Object.values(hidden).flat());
  return z.strictObject(
    Object.fromEntries(
      Object.entries(shape).map(([name, schema]) => [
        name,
        sometimes.has(name) ? z.optional(schema) : schema,
      ]),
    ),
  );
}

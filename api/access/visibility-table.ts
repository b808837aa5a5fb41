import { ADVERTISER } from "../fields/advertiser.ts";
import { AFFILIATE } from "../fields/affiliate.ts";
import { EVENT } from "../fields/event.ts";
import { type Fields, hiddenNames, shownNames } from "../fields/field.ts";
import { OFFER } from "../fields/offer.ts";
import { ROLES, type Role } from "../operation/permissions.ts";

/*
 * Defines who sees which field of which resource, with `hiddenFrom` of the records in api/fields. No other code does. An answer is built
 * field by field from here, so a field that is not listed is never shown, and a hidden field is left out, never null (VIS-058).
 */

export type Rule = {
  readonly fields: readonly string[];
  /** Fields left out for the role. */
  readonly hidden: Partial<Record<Role, readonly string[]>>;
};

/**
 * Names of fields, separated by white space: all fields of a resource, and for each role those that it does not see. A partner or an
 * advertiser with "" reaches the resource and sees every field.
 */
function rule(fields: string, hidden: Partial<Record<Role, string>> = {}): Rule {
  return {
    fields: namesIn(fields),
    hidden: Object.fromEntries(
      Object.entries(hidden).map(([role, names]) => [role, namesIn(names)]),
    ),
  };
}

/** A record whose fields say who does not see them (api/fields), with the names of its other fields. */
function ruleOf(
  fields: Fields,
  others: {
    readonly before: string;
    readonly after: string;
    readonly hidden?: Partial<Record<Role, string>>;
  },
): Rule {
  const { before, after, hidden = {} } = others;
  return {
    fields: [...namesIn(before), ...shownNames(fields), ...namesIn(after)],
    hidden: Object.fromEntries(
      ROLES.map(
        (role) => [role, [...hiddenNames(fields, role), ...namesIn(hidden[role] ?? "")]] as const,
      ).filter(([role, names]) => names.length > 0 || role in hidden),
    ),
  };
}

function namesIn(text: string): string[] {
  return text.split(/\s+/).filter((name) => name !== "");
}

const SUBS_1_TO_5 = "sub1 sub2 sub3 sub4 sub5";
const ALL_SUBS = `${SUBS_1_TO_5} sub6 sub7 sub8 sub9 sub10`;
/** The address, and signs of fraud (G84). */
const FRAUD_SIGNS =
  "is_bot is_datacenter is_proxy is_headless missing_ua ip visitor user_agent asn as_name";
/** Fields of an offer that only partners get. */
const PARTNER_ONLY = "access_status can_run tracking_link";

export const VISIBILITY = {
  offer: ruleOf(OFFER, {
    before: "id code",
    after: `events created_at updated_at ${PARTNER_ONLY}`,
    hidden: { admin: PARTNER_ONLY, analyst: PARTNER_ONLY, advertiser: PARTNER_ONLY },
  }),
  event: ruleOf(EVENT, { before: "id", after: "is_default" }),
  /** The caps object of an offer (G52). */
  caps: rule("conversions payout revenue clicks alert_only", {
    advertiser: "payout",
  }),
  partner_access: rule(
    "affiliate_id affiliate_code affiliate_name status note requested_at decided_at",
  ),
  /** A partner sees its own requests, but not the note, which is for the staff. */
  access_request: rule(
    `offer_id offer_code offer_name affiliate_id affiliate_code affiliate_name status note reply message
      answers requested_at decided_at`,
    { partner: "note" },
  ),
  access_form: rule("offer_id questions can_request can_request_from request"),
  affiliate: ruleOf(AFFILIATE, { before: "id", after: "approved_at created_at updated_at" }),
  advertiser: ruleOf(ADVERTISER, {
    before: "id",
    after: "postback_token created_at updated_at",
    hidden: { analyst: "postback_token" },
  }),
  /** An offer as one partner may run it, for the staff. */
  affiliate_offer: rule(
    `offer_id offer_code offer_name status visibility currency payout_type payout access_status
      terms_accepted can_run tracking_link`,
  ),
  attention_item: rule("kind count is_whole path query"),
  cap_usage: rule(
    `owner_kind owner_id owner_name measure period currency limit used share is_reached resets_at
      alert_only`,
  ),
  /** How a partner is paid: for itself and for admins. */
  payment_method: rule(
    `affiliate_id payment_method payment_details has_details tax changed_at held_until wallet_names`,
    { analyst: "payment_details", partner: "affiliate_id" },
  ),
  payout_run: rule(
    `id status currency methods format due_until execution_date total held_total line_count held_count paid_count
      failed_count created_by approved_by created_at approved_at ended_at lines held`,
  ),
  /** `details` are masks, which only admins see. A partner sees its own lines of approved runs. */
  payout_line: rule(
    `id run_id reference affiliate_id affiliate_code affiliate_name method details currency amount statement_ids
      statements status reason until released_at release_reason external_id fee error execution_date settled_at`,
    {
      analyst: "details",
      partner: `affiliate_id affiliate_code affiliate_name reason until released_at release_reason fee statement_ids`,
    },
  ),
  /** What a partner or an advertiser sees and changes of its own account. */
  profile: rule(
    `name email company contact_name phone website messenger traffic_sources country updated_at`,
    { advertiser: "messenger traffic_sources" },
  ),
  conversion: rule(
    `id click_id offer_id offer_name affiliate_id affiliate_code affiliate_name advertiser_id
      smart_link_id event_id event_code status status_reason is_duplicate revenue payout
      sale_amount currency adv_txid method click_ts conv_ts domain link_type ${SUBS_1_TO_5}
      source_id traffic_source gclid gbraid wbraid fbclid ext_campaign_id ext_adgroup_id
      ext_ad_id ext_keyword ext_placement country region city device_type os browser conv_ip
      params notes created_at updated_at`,
    {
      partner: "revenue advertiser_id adv_txid params notes conv_ip",
      advertiser: `payout affiliate_code affiliate_name ${SUBS_1_TO_5} source_id smart_link_id conv_ip
        notes`,
    },
  ),
  /** History of a conversion. Money is visible as in the conversion itself; only staff see which staff member made the change. */
  conversion_change: rule(
    `at actor key_id from_status to_status reason from_revenue to_revenue from_payout to_payout
      from_sale_amount to_sale_amount person_id`,
    {
      partner: "key_id person_id from_revenue to_revenue",
      advertiser: "key_id person_id from_payout to_payout",
    },
  ),
  /** In the list and in the detail, which has every stored column and `extra`. */
  click: rule(
    `click_id ts link_type status status_reason offer_id offer_label affiliate_id
      affiliate_label smart_link_id is_unique ${FRAUD_SIGNS} country city device_type os browser
      traffic_source ${ALL_SUBS} source_id gclid ext_campaign_id ext_keyword domain destination
      workspace_id advertiser_id referrer referrer_host language region os_version
      browser_version gbraid wbraid msclkid fbclid ttclid ext_adgroup_id ext_ad_id ext_placement
      ext_matchtype ext_network ext_device ext_device_model ext_target_id ext_loc_physical
      ext_loc_interest ext_feed_item_id ext_ad_position extra click_payout click_revenue
      currency catalog_version`,
    {
      partner: `${FRAUD_SIGNS} destination advertiser_id click_revenue`,
      advertiser: `${FRAUD_SIGNS} affiliate_label smart_link_id ${ALL_SUBS} source_id extra referrer
        click_payout`,
    },
  ),
  /** Fields that partners get in addition to the creative's own. */
  creative: rule(
    `id offer_id name kind url body width height status created_at updated_at tracking_link
      html`,
    {
      admin: "tracking_link html",
      analyst: "tracking_link html",
      advertiser: "tracking_link html",
    },
  ),
  deal: rule(
    `id advertiser_id advertiser offer_id offer_name title description coupon_code landing_url
      starts_at ends_at status updated_at`,
    { partner: "advertiser_id status updated_at" },
  ),
  product_feed: rule(
    `id advertiser_id advertiser offer_id offer_name name feed_url format status description
      updated_at`,
    { partner: "advertiser_id status updated_at" },
  ),
  postback: rule(
    `id affiliate_id offer_id event_code kind method url body fire_on status
      disabled_reason created_by_affiliate created_at updated_at`,
  ),
  postback_delivery: rule(
    `id postback_id conversion_id trigger url attempts total_attempts status error response_status
      response_body next_attempt_at created_at finished_at`,
  ),
  /** Every role that sees the delivery sees its attempts. */
  delivery_attempt: rule(
    "number sent_at duration_ms status method url body error response_status response_body",
  ),
  /** For the staff: deliveries of both kinds. */
  conversion_delivery: rule(
    `id kind endpoint_id trigger event url attempts total_attempts status error response_status response_body
      next_attempt_at created_at finished_at`,
  ),
  webhook: rule("id name url events active secret disabled_reason created_at updated_at", {
    analyst: "secret",
  }),
  webhook_delivery: rule(
    `id webhook_id event event_id url attempts total_attempts status error response_status response_body
      next_attempt_at created_at finished_at`,
  ),
  workspace: rule(
    `id slug name brand_name timezone currency status default_fallback_url allowed_destinations
      attribution_model advertiser_updates organic_affiliate_id email_attribution ip_storage
      fraud_checks forward_unknown_url advertiser_may_rotate sign_up postback_token created_at updated_at`,
    { analyst: "postback_token" },
  ),
  user: rule("id name email status created_at updated_at"),
  /** `key` is the secret: shown in the answer that creates it, never again (G06). */
  key: rule(
    `id name role affiliate_id advertiser_id permissions ip_allowlist expires_at last_used_at
      revoked_at created_at key`,
    { analyst: "key" },
  ),
  /** People of an account see who else is there. */
  member: rule(
    `id person_id name email email_proved role affiliate_id advertiser_id user_id permissions status
      version has_second_factor last_seen_at created_at updated_at`,
    {
      partner: "advertiser_id user_id permissions",
      advertiser: "affiliate_id user_id permissions",
    },
  ),
  invitation: rule(
    `id email role affiliate_id advertiser_id permissions made_by created_at expires_at used_at
      revoked_at link mailed`,
    {
      analyst: "link",
      partner: "advertiser_id permissions",
      advertiser: "affiliate_id permissions",
    },
  ),
  saved_view: rule("id name path query is_shared is_own created_at updated_at"),
  /** A file of records. */
  import: rule(
    `id kind name format delimiter dry_run update skip_faulty status message bytes rows_checked
      rows_faulty rows_to_create rows_to_update rows_already_written rows_created rows_updated
      rows_left_out created_by created_at started_at ended_at faults`,
  ),
  import_fault: rule("row field message"),
  /** A file of what an advertiser confirmed. */
  conversion_update: rule(
    `id name status message columns offer_ids missing from to rows rows_done counts sums created_by
      created_at applied_at ended_at`,
  ),
  conversion_update_sum: rule(
    `affiliate_id affiliate_name currency rows payout_before payout_after revenue_before
      revenue_after`,
  ),
  conversion_update_row: rule("row is_missing outcome conversion_id fields faults before after"),
  conversion_update_state: rule("status status_reason notes sale_amount payout revenue"),
  /** A key of an account, for the account itself. */
  own_key: rule(
    "id name role permissions ip_allowlist expires_at last_used_at revoked_at created_at key",
    { partner: "", advertiser: "" },
  ),
  tracking_domain: rule("id host scheme status is_default certification created_at updated_at"),
  tracking_domain_assignment: rule("id domain_id affiliate_id offer_id created_at"),
  link_key: rule("id key offer_id affiliate_id created_at"),
  smart_link: rule("id code name status affiliate_id mode rules created_at updated_at"),
  code_alias: rule("id kind alias target target_id shadowed created_at updated_at"),
  traffic_source_template: rule(
    "id name traffic_source params source_id affiliate_ids created_at updated_at",
  ),
  traffic_control: rule("id name status conditions action forward_offer_id created_at updated_at"),
  offer_settings: rule(
    `hold_days min_seconds_to_conversion duplicate_click_seconds unique_click_hours
      fraud_checks terms fail_route_offer_id txid_scope pass_parameters access_questions auto_approve_tiers reapply_days`,
  ),
  offer_terms: rule("offer_id terms hash accepted accepted_at", {
    admin: "accepted accepted_at",
    analyst: "accepted accepted_at",
  }),
  affiliate_settings: rule("throttle_percent hold_days"),
  advertiser_settings: rule("postback_ip_allowlist budget_caps"),
  offer_group: rule("id name offer_ids caps created_at updated_at"),
  payout_override: rule(
    `id offer_id affiliate_id event_code payout_type payout revenue_type revenue created_at
      updated_at`,
  ),
  conversion_rule: rule("id name position status action conditions created_at updated_at"),
  coupon: rule("id code offer_id affiliate_id status starts_at ends_at created_at updated_at"),
  ad_cost: rule(
    `id date hour offer_id affiliate_id traffic_source ext_campaign_id ext_adgroup_id currency
      amount created_at updated_at`,
  ),
  fx_rate: rule("date currency rate updated_at scope"),
  /** One inbound call (G178). */
  postback_log_entry: rule(
    "id ts endpoint ip token_owner params http_status result conversion_id click_id message request_id",
  ),
  postback_log_count: rule("ts result count"),
  /** The same call, as its advertiser sees it: without partners, and with the visitor's address left out. */
  own_call: rule(
    "id ts endpoint ip token_owner params http_status result conversion_id click_id message request_id",
  ),
  billing_settings: rule(
    `enabled starts_on has_entries legal approval auto_approve statement_prefix invoice_prefix
      period_grace_hours payment_change_hold_hours wallet_names default_tax_text language
      payout_currency audited_at violations updated_at`,
  ),
  /** An account sees its own, unless the staff keeps it to itself (N43). */
  adjustment: rule(
    `id affiliate_id affiliate_name advertiser_id advertiser_name currency amount kind reason
      visible conversion_id reverses_id reversed_by_id key_id person_id created_at`,
    {
      partner: "advertiser_id advertiser_name visible key_id person_id",
      advertiser: "affiliate_id affiliate_name visible key_id person_id",
    },
  ),
  ledger_entry: rule(
    `id account owner_id owner_name currency seq amount posted_at kind transaction_id source_kind
      source_id description reverses_id key_id person_id conversion_id offer_id event_code count`,
  ),
  balance: rule(
    `id kind owner_id owner_name currency pending balance unbilled carried draft approved_unpaid
      in_payout invoiced_open unallocated paid_total`,
  ),
  /** Of the partner of the key. */
  earnings: rule(
    `currency pending approved unbilled carried draft approved_unpaid in_payout paid_total
      next_period_end approved_since`,
    { partner: "" },
  ),
  /** Of the advertiser of the key. */
  own_billing: rule(
    "currency pending balance unbilled carried invoiced_open unallocated paid_total",
    { advertiser: "" },
  ),
  billing_audit: rule("audited_at violations"),
  unposted_change: rule(
    `id conversion_id at offer_id affiliate_id advertiser_id currency from_status to_status
      from_payout to_payout from_revenue to_revenue`,
  ),
  /** An invoice or a credit note of an advertiser. */
  invoice: rule(
    `id kind number status is_overdue advertiser_id advertiser_name currency terms period_from period_to timezone
      carried_in total payable tax tax_amount gross carried_out paid open due_on credits_id credited_by_id reason
      created_at approved_at voided_at lines payments`,
    { advertiser: "" },
  ),
  /** An entry of the ledger behind a line of an invoice. */
  invoice_entry: rule(
    "seq posted_at conversion_id adv_txid conv_ts offer_id event_code count amount",
  ),
  advertiser_payment: rule(
    `id advertiser_id advertiser_name currency amount applied unapplied external_id received_at note invoice_ids
      reversed_at reversal_reason created_at allocations`,
  ),
  tax_record: rule("advertiser_id country vat_id mode rate updated_at"),
  /** `lines` only of one statement. Partners see their own from approval on. */
  statement: rule(
    `id number affiliate_id affiliate_name currency period status terms carried_in lines total min_payout payable
      tax gross carried_out due_on payout_line_id files created_at approved_at paid_at voided_at`,
    { partner: "" },
  ),
  statement_line: rule(
    "line kind offer_id offer_name event_code of_statement_id of_statement_number count amount",
    { partner: "" },
  ),
  /** What a line consists of. The staff wrote the reason of an adjustment that is not visible for each other: it is empty for partners. */
  statement_entry: rule(
    `seq posted_at kind conversion_id click_id adv_txid offer_id offer_name event_code conv_ts count amount
      reason`,
    { partner: "adv_txid" },
  ),
  billing_file: rule("id name media_type sha256 size created_at", { partner: "", advertiser: "" }),
  /** What an admin changed of settings that decide about money (N13). */
  change: rule("id at resource resource_id key_id person_id address before after"),
  audit_log_entry: rule("id ts key_id user action ip status request_id person_id"),
} as const satisfies Record<string, Rule>;

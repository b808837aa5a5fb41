import type { ListRequest, ListWorld } from "./list-world.ts";

export type List = {
  /** A query for all rows as (at, id). */
  readonly rows: string;
  readonly path?: (lists: ListWorld) => Promise<Record<string, string>>;
  /** Filters that match few rows, with such a value: they read one page of an index. */
  readonly selective?: Readonly<Record<string, (lists: ListWorld) => string | Promise<string>>>;
  /** Filters that match many rows or have no index: they scan the list until a page is full. */
  readonly wide?: readonly string[];
  /** Its orders by their names in `sort`, each with a query for all rows as (at, id). */
  readonly sorts?: Readonly<Record<string, string>>;
  readonly roles?: readonly ListRequest["role"][];
};

const byCreation = (table: string): string => `select created_at as at, id from ${table}`;
const by = (column: string, table: string): string => `select ${column} as at, id from ${table}`;
const affiliate = (lists: ListWorld): string => String(lists.world.tenant.affiliateId);
const smallest =
  (table: string, count = 1) =>
  async (lists: ListWorld): Promise<string> => {
    const { rows } = await lists.world.pool.query<{ ids: string }>({
      text: `select string_agg(id::text, ',') as ids from (select id from ${table} order by id limit $1) smallest`,
      values: [count],
    });
    return rows[0]?.ids ?? "";
  };
export const offer = smallest("offer");
const md5Of =
  (text: string) =>
  async (lists: ListWorld): Promise<string> => {
    const { rows } = await lists.world.pool.query<{ value: string }>({
      text: "select md5($1) as value",
      values: [text],
    });
    return rows[0]?.value ?? "";
  };
const conversionId = async (lists: ListWorld): Promise<string> =>
  (await md5Of("conversion1")(lists)).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** Entries of the first statement, which has many. */
const ENTRIES =
  "select '' as at, seq as id from ledger_entry where account_id = (select account_id from statement order by id limit 1)";

/** Every paged list. The first test below fails if one is missing. */
export const LISTS: Readonly<Record<string, List>> = {
  listOffers: {
    rows: byCreation("offer"),
    selective: {
      advertiser_id: (lists) => String(lists.world.tenant.advertiserId),
      ids: smallest("offer", 20),
    },
    // `can_run` matches nearly every offer.
    wide: ["status", "q", "visibility", "category", "tag", "featured", "currency", "can_run"],
    sorts: {
      created_at: byCreation("offer"),
      name: by("name", "offer"),
      code: by("code", "offer"),
    },
    roles: ["admin", "partner", "advertiser"],
  },
  listAffiliates: {
    rows: byCreation("affiliate"),
    selective: { manager_id: smallest("app_user"), ids: smallest("affiliate", 20) },
    wide: ["status", "tag", "q"],
    sorts: {
      created_at: byCreation("affiliate"),
      name: by("name", "affiliate"),
      code: by("code", "affiliate"),
    },
  },
  listAdvertisers: {
    rows: byCreation("advertiser"),
    selective: { ids: smallest("advertiser", 20) },
    wide: ["status", "q"],
    sorts: { created_at: byCreation("advertiser"), name: by("name", "advertiser") },
  },
  listConversions: {
    rows: "select conv_ts as at, id from conversion",
    selective: {
      click_id: md5Of("click7"),
      offer_id: offer,
      affiliate_id: affiliate,
      adv_txid: () => "order7",
      smart_link_id: () => "1",
      advertiser_id: (lists) => String(lists.world.tenant.advertiserId),
    },
    wide: ["status", "event", "method", "status_reason", "is_duplicate", "cap_alert", "filters"],
    sorts: { conv_ts: by("conv_ts", "conversion") },
    roles: ["admin", "partner", "advertiser"],
  },
  listConversionDeliveries: {
    rows: byCreation("delivery"),
    path: async (lists) => ({ id: await conversionId(lists) }),
    selective: { kind: () => "postback", status: () => "failed" },
  },
  listConversionHistory: {
    rows: "select at, id from conversion_history",
    path: async (lists) => ({ id: await conversionId(lists) }),
  },
  listPostbacks: {
    rows: byCreation("postback"),
    selective: { offer_id: offer, affiliate_id: affiliate },
    wide: ["status"],
    roles: ["admin", "partner"],
  },
  listPostbackDeliveries: {
    rows: byCreation("delivery"),
    path: async (lists) => ({ id: await smallest("postback")(lists) }),
    selective: { status: () => "failed" },
  },
  listWebhooks: { rows: byCreation("webhook"), wide: ["disabled"] },
  listWebhookDeliveries: {
    rows: byCreation("delivery"),
    path: async (lists) => ({ id: await smallest("webhook")(lists) }),
    selective: { status: () => "failed" },
  },
  listUsers: { rows: byCreation("app_user"), wide: ["status"] },
  listKeys: {
    rows: byCreation("api_key"),
    selective: {
      affiliate_id: affiliate,
      advertiser_id: (lists) => String(lists.world.tenant.advertiserId),
    },
  },
  listOwnKeys: { rows: byCreation("api_key"), roles: ["partner", "advertiser"] },
  listTrackingDomains: { rows: byCreation("tracking_domain"), wide: ["status", "certification"] },
  listTrackingDomainAssignments: {
    rows: byCreation("tracking_domain_assignment"),
    selective: {
      domain_id: smallest("tracking_domain"),
      affiliate_id: smallest("affiliate where code like 'C%'"),
      offer_id: offer,
    },
  },
  listLinkKeys: {
    rows: byCreation("link_key"),
    selective: { key: () => "key7", offer_id: offer, affiliate_id: affiliate },
  },
  listSmartLinks: {
    rows: byCreation("smart_link"),
    selective: { affiliate_id: affiliate, code: () => "S7" },
    wide: ["status"],
  },
  listCodeAliases: {
    rows: byCreation("code_alias"),
    selective: { alias: () => "old-7", target_id: offer },
    wide: ["kind"],
  },
  listTrafficSourceTemplates: { rows: byCreation("traffic_source_template") },
  listTrafficControls: { rows: byCreation("traffic_control"), wide: ["status", "action"] },
  listOfferGroups: { rows: byCreation("offer_group") },
  listPayoutOverrides: {
    rows: byCreation("payout_override"),
    selective: { offer_id: offer, affiliate_id: affiliate },
  },
  listConversionRules: { rows: byCreation("conversion_rule"), wide: ["status", "action"] },
  listCoupons: {
    rows: byCreation("coupon"),
    selective: { code: () => "SAVE7", offer_id: offer, affiliate_id: affiliate },
    wide: ["status"],
  },
  listPartnerAccess: {
    rows: "select requested_at as at, affiliate_id as id from offer_access",
    path: async (lists) => ({ id: await offer(lists) }),
    wide: ["status"],
  },
  listAccessRequests: {
    rows: "select requested_at as at, offer_id || '.' || affiliate_id as id from offer_access",
    selective: { affiliate_id: affiliate },
    // All of them are of one offer and approved.
    wide: ["status", "offer_id"],
  },
  listAffiliateOffers: {
    rows: byCreation("offer"),
    path: async (lists) => await Promise.resolve({ id: affiliate(lists) }),
    wide: ["can_run", "access_status", "status", "visibility", "q"],
  },
  // A page reads the owners of caps from its first one on. There are few owners.
  listCapUsage: {
    rows: "select '' as at, 'offer/' || id || '/conversions/daily' as id from offer where caps <> '{}'",
    selective: { offer_id: offer },
    wide: ["offer_group_id", "advertiser_id", "min_share"],
  },
  listAdCosts: {
    rows: "select date as at, id from ad_cost",
    selective: {
      offer_id: offer,
      affiliate_id: affiliate,
      traffic_source: () => "rare",
      currency: () => "CHF",
    },
  },
  listFxRates: {
    rows: "select date as at, currency as id from fx_rate",
    selective: { currency: () => "EUR" },
  },
  listPostbackLog: {
    rows: "select ts as at, id from postback_log",
    selective: {
      result: () => "unknown_click",
      click_id: md5Of("click7"),
      conversion_id: conversionId,
    },
  },
  listOwnPostbackLog: {
    rows: "select ts as at, id from postback_log",
    selective: {
      result: () => "unknown_click",
      click_id: md5Of("click7"),
      conversion_id: conversionId,
    },
    roles: ["advertiser"],
  },
  listOwnEvents: { rows: byCreation("offer"), roles: ["advertiser"] },
  listAuditLog: {
    rows: "select ts as at, id from audit_log",
    selective: { key_id: () => "1" },
    // The action contains the value. No index has the person: a range of days of one workspace does.
    wide: ["action", "person_id"],
  },
  listInvoices: {
    rows: byCreation("invoice"),
    selective: { advertiser_id: (lists) => String(lists.world.tenant.advertiserId) },
    wide: ["status", "currency", "overdue"],
  },
  listInvoiceEntries: {
    rows: "select posted_at as at, seq as id from ledger_entry",
    path: async (lists) => ({ id: await smallest("invoice")(lists), line: "1" }),
  },
  listOwnInvoices: { rows: byCreation("invoice"), roles: ["advertiser"] },
  listPayments: {
    rows: byCreation("advertiser_payment"),
    selective: {
      advertiser_id: (lists) => String(lists.world.tenant.advertiserId),
      external_id: () => "bank7",
    },
    wide: ["currency"],
  },
  listStatements: {
    rows: byCreation("statement"),
    selective: { affiliate_id: affiliate },
    wide: ["status", "currency", "due_until"],
  },
  listOwnStatements: {
    rows: byCreation("statement"),
    wide: ["status", "currency"],
    roles: ["partner"],
  },
  listPayoutRuns: { rows: byCreation("payout_run"), wide: ["status", "currency"] },
  listOwnPayouts: {
    rows: byCreation("payout_line"),
    wide: ["status", "currency"],
    roles: ["partner"],
  },
  listStatementEntries: {
    rows: ENTRIES,
    path: async (lists) => ({ id: await smallest("statement")(lists), line: "1" }),
  },
  listOwnStatementEntries: {
    rows: ENTRIES,
    path: async (lists) => ({ id: await smallest("statement")(lists), line: "1" }),
    roles: ["partner"],
  },
  listAdjustments: {
    rows: byCreation("adjustment"),
    selective: {
      affiliate_id: affiliate,
      advertiser_id: (lists) => String(lists.world.tenant.advertiserId),
    },
    wide: ["kind", "currency"],
    roles: ["admin", "partner", "advertiser"],
  },
  listLedger: {
    rows: "select posted_at as at, transaction_id || '.' || account_id || '.' || seq as id from ledger_entry",
    selective: { owner: affiliate, conversion_id: conversionId },
    wide: ["account", "currency"],
  },
  listBalances: {
    rows: "select owner_id as at, currency as id from ledger_account where owner_id > 0",
    selective: { owner_id: affiliate },
    wide: ["kind", "currency"],
  },
  listUnposted: { rows: "select at, history_id as id from ledger_unposted" },
  listChanges: {
    rows: "select at, id from change_log",
    selective: { resource: () => "rare" },
    wide: ["resource_id"],
  },
  listSavedViews: { rows: byCreation("saved_view") },
  listImports: { rows: byCreation("import"), wide: ["kind", "status"] },
  listConversionUpdates: { rows: byCreation("conversion_update"), wide: ["status"] },
  listConversionUpdateRows: {
    rows: "select timestamptz '2020-01-01' as at, number as id from conversion_update_row",
    path: async (lists) => ({ id: await smallest("conversion_update")(lists) }),
    selective: { outcome: () => "refused" },
  },
  listMembers: {
    rows: byCreation("membership"),
    roles: ["admin", "partner"],
  },
  listInvitations: {
    rows: byCreation("one_time_link"),
    roles: ["admin", "partner"],
  },
};

/** What an example of a call sends, apart from its path: values of the query as text, and the body as JSON. And what it answers. */
export type CallExample = {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Instead of an answer that is made from the schema. */
  readonly answer?: Readonly<Record<string, unknown>>;
};

const OFFER_AND_PARTNER = { offer_id: 1, affiliate_id: 1 };

const PAID_BY_WIRE = {
  payment_method: "wire",
  payment_details: { holder: "Anna Shop", iban: "DE89370400440532013000" },
};

const WEEK = { from: "2025-01-25T00:00:00.000Z", to: "2025-01-31T23:59:59.999Z", tz: "UTC" };
const CLICK_ID = "0194f3c20194f3c20194f3c20194f3c2";
const UUID = "0b54c2f0-6e5a-4a39-9f0c-0d2f0d6f7f11";
const PATH_PARTS: Readonly<Record<string, string>> = {
  code: "signup",
  affiliate: "ANNA2025",
  click_id: CLICK_ID,
  format: "json",
};

/** What follows `#` in a one-time link. */
const LINK_TOKEN = "Yk3vQ0wVb7u2mJ9rT5xN8cH1sD4fG6pLzA-eRiOtUyE";

/** The example of a parameter in a path, by its schema. Records that have no number have a UUID, which their pattern describes. */
export function examplePart(
  name: string,
  { pattern, examples }: Readonly<Record<string, unknown>>,
): string {
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  if (typeof example === "string") return example;
  if (name === "id" && typeof pattern === "string") return UUID;
  return PATH_PARTS[name] ?? "1";
}

/**
 * Examples by operation, for the OpenAPI document and the reference, where an example made from the schema would be refused or would
 * say little. They belong together: the offer has the id 1 and the code `SUMMER`, and its partner and advertiser have the id 1.
 * A test sends every one.
 */
export const CALL_EXAMPLES: Readonly<Record<string, CallExample>> = {
  lookUpLink: { body: { token: LINK_TOKEN } },
  redeemLink: {
    body: { token: LINK_TOKEN, name: "Anna Shop", password: "seven-lamps-on-a-quay" },
  },
  closeStatements: { body: { affiliate_id: 1, dry_run: true } },
  approveStatements: { body: { ids: [1] } },
  setPaymentMethod: { body: PAID_BY_WIRE },
  setOwnPaymentMethod: { body: PAID_BY_WIRE },
  exportPayoutRun: { query: { format: "csv" } },
  createPayoutRun: { body: { currency: "GBP", execution_date: "2026-12-15" } },
  releasePayoutLine: { body: { reason: "The partner confirmed the account by phone" } },
  createImport: { query: { kind: "affiliates", name: "partners.csv" } },
  closeInvoices: { body: { advertiser_id: 1, until: "2026-02-01T00:00:00Z", dry_run: true } },
  createPayment: {
    body: {
      advertiser_id: 1,
      currency: "USD",
      amount: "250.00",
      external_id: "TRANSFER-2026-0117",
      received_at: "2026-02-20T00:00:00Z",
    },
  },
  setAdvertiserTax: {
    body: { mode: "domestic", rate: "19", country: "DE", vat_id: "DE123456789" },
  },
  createConversionUpdate: { query: { name: "march.csv", offer_ids: "1" } },
  createSavedView: {
    body: {
      name: "Partners by profit",
      path: "/reports",
      query: "preset=last30&group_by=affiliate&sort=-profit",
      is_shared: true,
    },
  },
  updateSavedView: { body: { name: "Partners by profit, last month" } },
  requestAccess: {
    body: { message: "I write about shoes for runners, for 20,000 readers a month.", answers: {} },
  },
  listOffers: { query: { status: "active", limit: "20" } },
  createOffer: {
    body: {
      name: "Summer shoes",
      code: "SUMMER",
      advertiser_id: 1,
      destination_url: "https://shop.example/landing?cid={click_id}",
      revenue_type: "rpa",
      revenue: "15.00",
      payout_type: "cpa",
      payout: "10.00",
      targeting: { countries_allow: ["DE", "AT"] },
    },
  },
  updateOffer: { body: { payout: "12.50", caps: { conversions: { daily: 100 } } } },
  createEvent: {
    body: { code: "signup", name: "Newsletter signup", payout: "1.50", revenue: "2.00" },
  },
  updateEvent: { body: { payout: "1.75" } },
  listPartnerAccess: { query: { status: "pending" } },
  setPartnerAccess: { body: { status: "approved", note: "Runs search ads only" } },
  updateOfferSettings: { body: { hold_days: 14, unique_click_hours: 24 } },
  createCreative: {
    body: {
      name: "Leaderboard",
      kind: "image",
      url: "https://cdn.shop.example/banner-728x90.png",
      width: 728,
      height: 90,
    },
  },
  updateCreative: { body: { status: "inactive" } },
  createOfferGroup: {
    body: { name: "Shoes", offer_ids: [1], caps: { conversions: { monthly: 5000 } } },
  },
  updateOfferGroup: { body: { caps: { conversions: { monthly: 8000 } } } },

  listAffiliates: { query: { status: "active", q: "anna" } },
  createAffiliate: {
    body: { name: "Anna Media", code: "ANNA2025", email: "anna@media.example", country: "DE" },
  },
  updateAffiliate: { body: { status: "active", tags: ["newsletter"] } },
  updateAffiliateSettings: { body: { hold_days: 30 } },
  createPayoutOverride: { body: { ...OFFER_AND_PARTNER, payout_type: "cpa", payout: "11.00" } },
  updatePayoutOverride: { body: { payout: "12.00" } },
  createCoupon: { body: { code: "ANNA10", ...OFFER_AND_PARTNER } },
  updateCoupon: { body: { ends_at: "2030-12-31T23:59:59.000Z" } },
  createAdvertiser: { body: { name: "Summer Shoes Ltd", currency: "USD" } },
  updateAdvertiser: { body: { billing_terms: "net30" } },
  createDeal: {
    body: {
      advertiser_id: 1,
      offer_id: 1,
      title: "Ten percent off",
      coupon_code: "SUN10",
      landing_url: "https://shop.example/deals",
    },
  },
  updateDeal: { body: { title: "Fifteen percent off" } },
  createProductFeed: {
    body: { advertiser_id: 1, name: "All shoes", feed_url: "https://shop.example/feed.xml" },
  },
  updateProductFeed: { body: { status: "inactive" } },

  createTrackingDomain: {
    body: { host: "go.shop.example", scheme: "https", is_default: true },
  },
  updateTrackingDomain: { body: { certification: "certified" } },
  createTrackingDomainAssignment: { body: { domain_id: 1, affiliate_id: 1 } },
  getTrackingLink: { query: { offer: "SUMMER", affiliate: "ANNA2025", sub1: "newsletter" } },
  createLinkKey: { body: { key: "SUMMER_ANNA", ...OFFER_AND_PARTNER } },
  createSmartLink: {
    body: {
      name: "Best shoe offer",
      code: "SHOES",
      mode: "weighted",
      rules: [
        {
          name: "German phones",
          conditions: { countries_allow: ["DE"], devices_allow: ["mobile"] },
          offers: [{ offer_id: 1, weight: 100 }],
        },
      ],
    },
  },
  updateSmartLink: { body: { mode: "waterfall" } },
  createTrafficSourceTemplate: {
    body: {
      name: "Search ads",
      traffic_source: "google",
      params: { sub1: "{campaignid}", sub2: "{keyword}" },
    },
  },
  updateTrafficSourceTemplate: { body: { affiliate_ids: [1] } },
  lintGoogleAdsTemplate: {
    body: {
      template: "https://go.shop.example/g/SUMMER/1?url={lpurl}",
      final_url: "https://shop.example/landing",
    },
  },
  lintAdPlatformTemplate: {
    body: {
      template: "https://go.shop.example/g/SUMMER/1?url={lpurl}",
      final_url: "https://shop.example/landing",
      platform: "adplatform_a",
    },
  },
  replaceBlocklist: { body: { entries: ["bad.example", "worse.example/offer"] } },

  createTrafficControl: {
    body: { name: "No data centres", action: "block", conditions: { ip_ranges: ["192.0.2.0/24"] } },
  },
  updateTrafficControl: { body: { status: "paused" } },
  createConversionRule: {
    body: {
      name: "Check large orders",
      action: "hold",
      conditions: { offer_ids: [1], min_sale_amount: "500.00" },
    },
  },
  updateConversionRule: { body: { position: 1 } },

  listClicks: { query: { preset: "today", offer_id: "1", limit: "20" } },
  listConversions: { query: { preset: "last7", status: "pending" } },
  createConversion: {
    body: {
      ...OFFER_AND_PARTNER,
      sale_amount: "49.90",
      currency: "USD",
      adv_txid: "order-1001",
      notes: "Reported by phone",
    },
  },
  updateConversion: { body: { status: "rejected", reason: "Order returned" } },
  getReport: {
    query: {
      preset: "last7",
      group_by: "offer,affiliate",
      metrics: "clicks,conversions,payout",
    },
    answer: {
      data: [
        {
          offer: 1,
          offer_label: "Summer shoes",
          offer_sub: "SUMMER",
          affiliate: 2,
          affiliate_label: "Anna Media",
          affiliate_sub: "ANNA2025",
          clicks: 1840,
          conversions: 37,
          payout: "370.0000",
        },
      ],
      totals: { clicks: 1840, conversions: 37, payout: "370.0000" },
      columns: [
        { key: "offer", label: "Offer", kind: "dimension", format: "entity" },
        { key: "affiliate", label: "Affiliate", kind: "dimension", format: "entity" },
        { key: "clicks", label: "Clicks", kind: "metric", format: "number" },
        { key: "conversions", label: "Conversions", kind: "metric", format: "number" },
        { key: "payout", label: "Payout", kind: "metric", format: "money" },
      ],
      total_rows: 1,
      next_offset: null,
      currency: "USD",
      other_currencies: [],
      range: WEEK,
      group_by: ["offer", "affiliate"],
      metrics: ["clicks", "conversions", "payout"],
      date_basis: "conversion",
    },
  },
  getTimeseries: {
    query: { preset: "last7", interval: "day", metrics: "clicks,conversions" },
    answer: {
      data: [
        { bucket: "2025-01-30", clicks: 250, conversions: 4 },
        { bucket: "2025-01-31", clicks: 281, conversions: 6 },
      ],
      interval: "day",
      metrics: ["clicks", "conversions"],
      range: WEEK,
    },
  },
  setFxRates: { body: { date: "2025-01-31", currency: "GBP", rate: "0.8510" } },
  listAdCosts: { query: { from: "2025-01-01", to: "2025-02-01" } },

  updateBillingSettings: {
    body: { enabled: true, starts_on: "2026-01-01", legal: { name: "Network Ltd" } },
  },
  createAdjustment: {
    body: {
      affiliate_id: 1,
      currency: "USD",
      amount: "25.00",
      kind: "bonus",
      reason: "Best newcomer of January",
    },
  },
  listLedger: { query: { account: "partner_payable", owner: "1" } },

  createPostback: {
    body: {
      offer_id: 1,
      affiliate_id: 1,
      url: "https://partner.example/pb?click={click_id}&payout={payout}",
      fire_on: "approved",
    },
  },
  updatePostback: { body: { fire_on: "any" } },
  listPostbackLog: { query: { preset: "today", result: "unknown_click" } },
  createWebhook: {
    body: {
      name: "CRM",
      url: "https://hooks.shop.example/tracker",
      events: ["conversion.created", "conversion.updated"],
    },
  },
  updateWebhook: { body: { active: false } },
  listAuditLog: { query: { preset: "today", action: "/offers" } },

  updateWorkspace: { body: { timezone: "Europe/Berlin", attribution_model: "last" } },
  createUser: { body: { name: "Jo Keller", email: "jo@network.example" } },
  updateUser: { body: { status: "inactive" } },
  createKey: { body: { name: "Dashboards", role: "analyst", permissions: ["reports.read"] } },
};

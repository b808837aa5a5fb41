/** The records that the bodies of one workspace refer to, and the word that all its texts contain. */
export type Names = {
  /** Letters and digits, at most 10: goes into names, notes and codes. */
  readonly word: string;
  readonly advertiserId: number;
  readonly affiliateId: number;
  readonly offerId: number;
  readonly domainId: number;
  readonly clickId: string;
};

export type Body = Readonly<Record<string, unknown>>;

const NOWHERE = { countries: ["AQ"] };

/**
 * One record of each resource, by the path of its POST, in dependency order. A POST without an entry here fails the test, so
 * whoever adds an operation adds its body.
 */
export const BODIES: Readonly<Record<string, (names: Names) => Body>> = {
  "/advertisers": ({ word }) => ({ name: word, notes: word, email: `${word}@secret.example` }),
  "/affiliates": ({ word }) => ({
    name: word,
    code: word.toUpperCase(),
    notes: word,
    phone: `+49-${word}`,
    payment_method: "wallet_a",
    payment_details: { account: word },
  }),
  "/offers": ({ word, advertiserId }) => ({
    name: "Offer",
    advertiser_id: advertiserId,
    payout: "10",
    revenue: "15",
    destination_url: `https://shop.example/${word}?c={click_id}`,
    fallback_url: `https://${word}.example/`,
    caps: { payout: { total: "900000" }, revenue: { total: "900000" } },
    allowed_domains: [`${word}.example`],
  }),
  "/offers/{id}/events": ({ word }) => ({ code: `goal_${word}`, name: word, is_private: true }),
  "/users": ({ word }) => ({ name: word }),
  "/tracking-domains": ({ word }) => ({ host: `${word}.example`, scheme: "http" }),
  "/tracking-domain-assignments": ({ domainId, affiliateId }) => ({
    domain_id: domainId,
    affiliate_id: affiliateId,
  }),
  "/link-keys": ({ word, offerId, affiliateId }) => ({
    key: word,
    offer_id: offerId,
    affiliate_id: affiliateId,
  }),
  "/smart-links": ({ word, offerId }) => ({
    name: word,
    code: `S${word}`,
    rules: [{ conditions: {}, offers: [{ offer_id: offerId }] }],
  }),
  "/code-aliases": ({ word, offerId }) => ({
    kind: "offer",
    alias: `A.${word}`,
    target: String(offerId),
  }),
  "/traffic-source-templates": ({ word }) => ({ name: word, params: { sub1: word } }),
  "/traffic-controls": ({ word }) => ({ name: word, conditions: NOWHERE, action: "block" }),
  "/offer-groups": ({ word, offerId }) => ({ name: word, offer_ids: [offerId] }),
  "/payout-overrides": ({ offerId, affiliateId }) => ({
    offer_id: offerId,
    affiliate_id: affiliateId,
    payout_type: "cpa",
    payout: "11",
  }),
  "/conversion-rules": ({ word }) => ({ name: word, action: "reject", conditions: NOWHERE }),
  "/coupons": ({ word, offerId, affiliateId }) => ({
    code: `C${word}`,
    offer_id: offerId,
    affiliate_id: affiliateId,
  }),
  "/postbacks": ({ word, affiliateId, offerId }) => ({
    affiliate_id: affiliateId,
    offer_id: offerId,
    url: `https://partner.example/${word}`,
  }),
  "/conversions": ({ word, offerId, affiliateId, clickId }) => ({
    offer_id: offerId,
    affiliate_id: affiliateId,
    click_id: clickId,
    notes: word,
    adv_txid: `order-${word}`,
    params: { adv1: word },
    sub1: word,
  }),
  "/keys": ({ word }) => ({ name: word, role: "analyst" }),
  "/offers/{id}/creatives": ({ word }) => ({ name: word, kind: "text", body: word }),
  "/deals": ({ word, advertiserId, offerId }) => ({
    title: word,
    advertiser_id: advertiserId,
    offer_id: offerId,
    coupon_code: word,
  }),
  "/product-feeds": ({ word, advertiserId, offerId }) => ({
    name: word,
    advertiser_id: advertiserId,
    offer_id: offerId,
    feed_url: `https://${word}.example/feed.xml`,
  }),
  "/payments": ({ word, advertiserId }) => ({
    advertiser_id: advertiserId,
    currency: "USD",
    amount: "5",
    external_id: `bank-${word}`,
    received_at: "2026-01-05T00:00:00Z",
    note: word,
  }),
  "/saved-views": ({ word }) => ({ name: word, path: "/reports", query: word }),
  "/adjustments": ({ word, affiliateId }) => ({
    affiliate_id: affiliateId,
    currency: "USD",
    amount: "5",
    kind: "bonus",
    reason: word,
  }),
  "/adjustments/{id}/reverse": () => ({}),
  "/webhooks": ({ word }) => ({
    name: word,
    url: `https://hooks.example/${word}`,
    events: ["conversion.created"],
  }),
  "/payout-runs": ({ affiliateId }) => ({
    currency: "USD",
    affiliate_ids: [affiliateId],
    due_until: "2099-01-01",
    execution_date: "2099-01-01",
  }),
};

/** The body for ad costs, which have no path of their own: they are created as a list and answered as counts. */
export function adCostsOf({ word, offerId, affiliateId }: Names): Body {
  const date = new Date().toISOString().slice(0, 10);
  const owners = { offer_id: offerId, affiliate_id: affiliateId };
  return {
    rows: [{ ...owners, date, traffic_source: word, currency: "USD", amount: "1" }],
  };
}

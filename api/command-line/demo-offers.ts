import type { CreateOfferBody } from "../offers/offer-fields.ts";

/** An offer of the demo. `advertiser` says which advertiser of the demo owns it. */
export type DemoOffer = Omit<CreateOfferBody, "advertiser_id" | "code"> & {
  readonly code: string;
  readonly advertiser: "shop" | "software";
};

/** Covers every payout type, in two currencies. No targeting and no caps, so a click from anywhere is redirected. */
export const DEMO_OFFERS: readonly DemoOffer[] = [
  {
    code: "DEMOSHOP",
    advertiser: "shop",
    name: "Shop: fixed amount per order",
    category: "retail",
    destination_url: "https://shop.example/landing?cid={click_id}&s={sub1}",
    allowed_domains: ["shop.example"],
    currency: "USD",
    revenue_type: "rpa",
    revenue: "18.0000",
    payout_type: "cpa",
    payout: "12.0000",
    unique_per_click: true,
    events: [
      { code: "signup", name: "Newsletter sign-up", revenue: "1.5000", payout: "1.0000" },
      {
        code: "repeat",
        name: "Later order",
        revenue: "6.0000",
        payout: "4.0000",
        allow_multiple: true,
      },
      {
        code: "audit",
        name: "Checked order",
        revenue: "0.5000",
        payout: "0.0000",
        is_private: true,
      },
    ],
  },
  {
    code: "DEMOSALE",
    advertiser: "shop",
    name: "Shop: share of the sale",
    category: "retail",
    destination_url: "https://shop.example/sale?cid={click_id}",
    allowed_domains: ["shop.example"],
    currency: "EUR",
    revenue_type: "rps",
    revenue: "15.0000",
    payout_type: "cps",
    payout: "10.0000",
  },
  {
    code: "DEMOCLICK",
    advertiser: "software",
    name: "Magazine: amount per visitor",
    category: "content",
    destination_url: "https://magazine.example/?cid={click_id}",
    allowed_domains: ["magazine.example"],
    currency: "USD",
    revenue_type: "rpc",
    revenue: "0.0800",
    payout_type: "cpc",
    payout: "0.0500",
  },
  {
    code: "DEMOTRIAL",
    advertiser: "software",
    name: "Software: free trial",
    category: "software",
    destination_url: "https://software.example/trial?cid={click_id}",
    allowed_domains: ["software.example"],
    currency: "EUR",
    revenue_type: "rpa",
    revenue: "30.0000",
    payout_type: "cpa",
    payout: "20.0000",
  },
  {
    code: "DEMOTEAM",
    advertiser: "software",
    name: "Software: team plan, by approval",
    category: "software",
    visibility: "approval",
    destination_url: "https://software.example/team?cid={click_id}",
    currency: "USD",
    revenue_type: "rpa",
    revenue: "90.0000",
    payout_type: "cpa",
    payout: "60.0000",
  },
];

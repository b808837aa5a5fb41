import type { CreateOfferBody } from "../catalog/offers/offer-fields.ts";

/** An offer of the demo. `advertiser` says which advertiser of the demo owns it. */
export type DemoOffer = Omit<CreateOfferBody, "advertiser_id" | "code"> & {
  readonly code: string;
  readonly advertiser: "shop" | "software" | "travel";
  readonly settings?: {
    readonly hold_days?: number;
    readonly min_seconds_to_conversion?: number;
    readonly fraud_checks?: Readonly<Record<string, boolean | number>>;
  };
};

/**
 * Covers every payout type, in two currencies, and the ways in which a conversion waits or is refused. No targeting and no caps, so a
 * click from anywhere is redirected. Conversions of the first five are approved at once.
 */
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
  {
    code: "DEMOTRAVEL",
    advertiser: "travel",
    name: "Travel: share of the booking, held for a week",
    category: "travel",
    destination_url: "https://travel.example/?cid={click_id}",
    allowed_domains: ["travel.example"],
    currency: "EUR",
    revenue_type: "rps",
    revenue: "7.0000",
    payout_type: "cps",
    payout: "5.0000",
    settings: { hold_days: 7 },
  },
  {
    code: "DEMOGAME",
    advertiser: "software",
    name: "Game: install and purchases, with fraud checks",
    category: "games",
    destination_url: "https://game.example/install?cid={click_id}",
    allowed_domains: ["game.example"],
    currency: "USD",
    revenue_type: "rpa",
    revenue: "2.4000",
    payout_type: "cpa",
    payout: "1.7000",
    events: [
      {
        code: "purchase",
        name: "Purchase in the game",
        revenue_type: "rps",
        revenue: "30.0000",
        payout_type: "cps",
        payout: "20.0000",
        allow_multiple: true,
      },
    ],
    settings: {
      min_seconds_to_conversion: 20,
      fraud_checks: { bot: true, datacenter: true, headless: true },
    },
  },
  {
    code: "DEMOLOAN",
    advertiser: "travel",
    name: "Travel loan: checked application",
    category: "finance",
    destination_url: "https://loan.example/apply?cid={click_id}",
    allowed_domains: ["loan.example"],
    currency: "EUR",
    revenue_type: "rpa",
    revenue: "48.0000",
    payout_type: "cpa",
    payout: "35.0000",
    default_status: "pending",
  },
];

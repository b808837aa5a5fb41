export type Status = "approved" | "pending" | "rejected";
export type PayoutType = "cpa" | "cps" | "cpc";
export type RevenueType = "rpa" | "rps" | "rpc";

export type Terms = {
  readonly payout_type: PayoutType;
  readonly payout: string;
  readonly revenue_type: RevenueType;
  readonly revenue: string;
};
export type EventTerms = Terms & {
  readonly code: string;
  readonly is_private?: boolean;
  readonly allow_multiple?: boolean;
};
export type Override = {
  /** Index in the list of partners. */
  readonly partner: number;
  /** Null for the whole offer. */
  readonly event_code: string | null;
  readonly payout?: readonly ["cpa" | "cps", string];
  readonly revenue?: readonly ["rpa" | "rps", string];
};
export type AdvertiserName = "own" | "other" | "listed";

/** One offer of the day. The recount uses this plan, and nothing that the service answers about the offer. */
export type ShopPlan = {
  readonly name: string;
  readonly currency: string;
  readonly advertiser: AdvertiserName;
  /** The first event is the default one. */
  readonly events: readonly EventTerms[];
  readonly overrides: readonly Override[];
  readonly isOncePerClick: boolean;
  readonly defaultStatus: Status;
  readonly isHolding: boolean;
  readonly isTooFast: boolean;
  readonly caps: {
    readonly conversions?: number;
    readonly payout?: string;
    readonly alertOnly?: boolean;
  };
  readonly rejectsSalesFrom?: string;
  readonly holdsEvent?: string;
  readonly countsAddresses: boolean;
};
export type Shop = ShopPlan & {
  readonly id: number;
  readonly code: string;
  readonly coupon: string;
};
export type Partner = { readonly id: number; readonly code: string; readonly isThrottled: boolean };

/** Units for one EUR; a float cannot represent them. */
export const RATES: Readonly<Record<string, string>> = {
  EUR: "1",
  USD: "1.1721",
  JPY: "183.99",
  HUF: "384.4300000001",
};
export const CURRENCIES = ["USD", "EUR", "JPY"] as const;

const SALE: EventTerms = {
  code: "sale",
  payout_type: "cps",
  payout: "7.7777",
  revenue_type: "rps",
  revenue: "12.3457",
};
const MULTI: EventTerms = {
  code: "multi",
  payout_type: "cps",
  payout: "33.3333",
  allow_multiple: true,
  revenue_type: "rpa",
  revenue: "0.0007",
};
const SECRET: EventTerms = {
  code: "secret",
  payout_type: "cpa",
  payout: "1.1111",
  is_private: true,
  revenue_type: "rps",
  revenue: "0.0001",
};
const CPA: EventTerms = {
  code: "default",
  payout_type: "cpa",
  payout: "10.0101",
  revenue_type: "rpa",
  revenue: "15.1515",
};
const CPS: EventTerms = {
  code: "default",
  payout_type: "cps",
  payout: "33.3333",
  revenue_type: "rps",
  revenue: "66.6667",
};
const PLAIN: ShopPlan = {
  name: "plain",
  currency: "USD",
  advertiser: "own",
  events: [CPA, SALE, MULTI, SECRET],
  overrides: [],
  isOncePerClick: true,
  defaultStatus: "approved",
  isHolding: false,
  isTooFast: false,
  caps: {},
  countsAddresses: false,
};

/** `orders`: the entries of the day for each shop, from which the caps are computed. */
export function planShops(orders: number): ShopPlan[] {
  const overrides: Override[] = [
    { partner: 0, event_code: null, payout: ["cps", "9.9999"] },
    { partner: 0, event_code: "sale", revenue: ["rpa", "3.0303"] },
    { partner: 0, event_code: "*", payout: ["cpa", "4.0404"], revenue: ["rps", "5.0505"] },
    { partner: 1, event_code: "sale", payout: ["cpa", "0.0001"], revenue: ["rps", "0.5"] },
  ];
  return [
    PLAIN,
    { ...PLAIN, name: "overridden", currency: "EUR", advertiser: "other", overrides },
    { ...PLAIN, name: "yen", currency: "JPY", events: [CPS, SALE, MULTI, SECRET] },
    {
      ...PLAIN,
      name: "by click",
      currency: "EUR",
      events: [
        {
          code: "default",
          payout_type: "cpc",
          payout: "0.0301",
          revenue_type: "rpc",
          revenue: "0.1303",
        },
        SALE,
      ],
    },
    { ...PLAIN, name: "many a click", events: [CPS, SALE], isOncePerClick: false },
    { ...PLAIN, name: "reviewed", advertiser: "other", defaultStatus: "pending" },
    { ...PLAIN, name: "held", currency: "EUR", isHolding: true },
    { ...PLAIN, name: "capped", caps: { conversions: Math.ceil(orders / 5) } },
    {
      ...PLAIN,
      name: "paid up to",
      currency: "JPY",
      events: [CPS, SALE, MULTI],
      caps: { payout: `${orders * 60}.0001` },
    },
    {
      ...PLAIN,
      name: "alerting",
      caps: { conversions: Math.ceil(orders / 8), alertOnly: true },
    },
    {
      ...PLAIN,
      name: "ruled",
      events: [CPS, SALE, MULTI],
      rejectsSalesFrom: "700.0000",
      holdsEvent: "sale",
    },
    { ...PLAIN, name: "checked", countsAddresses: true },
    { ...PLAIN, name: "hasty", isTooFast: true },
    { ...PLAIN, name: "listed", currency: "EUR", advertiser: "listed" },
  ];
}

/** The terms of an event for a partner, after its overrides. */
export function termsOf(shop: Shop, event: EventTerms, partner: number): EventTerms {
  if (shop.events[0]?.payout_type === "cpc") return event;
  const codes = event.code === "default" ? ["default", null, "*"] : [event.code, "*"];
  const own = codes.flatMap((code) =>
    shop.overrides.filter((one) => one.partner === partner && one.event_code === code),
  );
  const isFor = (one: Override, types: readonly [string | undefined, string]): boolean =>
    types[0] !== undefined && (one.event_code !== "*" || types[0] === types[1]);
  const payout = own.find((one) => isFor(one, [one.payout?.[0], event.payout_type]))?.payout;
  const revenue = own.find((one) => isFor(one, [one.revenue?.[0], event.revenue_type]))?.revenue;
  return {
    ...event,
    ...(payout === undefined ? {} : { payout_type: payout[0], payout: payout[1] }),
    ...(revenue === undefined ? {} : { revenue_type: revenue[0], revenue: revenue[1] }),
  };
}

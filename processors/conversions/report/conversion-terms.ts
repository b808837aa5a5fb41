import { ownPayout, ownRevenue } from "../../../schemas/catalog/own-terms.ts";
import type { Offer, OfferEvent, PayoutOverride } from "../../../schemas/catalog/records.ts";
import { type Amount, amountOf, percentOf } from "../../../schemas/money/amount.ts";

/** How a conversion is paid and charged. A rate is an amount, or percentage points for cps and rps (G45). */
export type Terms = {
  readonly payoutType: OfferEvent["payout_type"];
  readonly payoutRate: Amount;
  readonly revenueType: OfferEvent["revenue_type"];
  readonly revenueRate: Amount;
};

/** Amounts of a conversion, in the offer's currency. A given amount replaces the computed one. */
export type Money = {
  readonly saleAmount: Amount;
  readonly payout: Amount;
  readonly revenue: Amount;
  readonly payoutGiven: boolean;
  readonly revenueGiven: boolean;
};

/** The terms of an event for a partner, with the partner's overrides (G46, G199). Overrides do not apply to offers paid by click. */
export function resolveTerms(
  offer: Pick<Offer, "payout_type" | "revenue_type">,
  event: Pick<
    OfferEvent,
    "code" | "is_default" | "payout_type" | "payout" | "revenue_type" | "revenue"
  >,
  overrides: readonly PayoutOverride[],
): Terms {
  const byClick = offer.payout_type === "cpc" || offer.revenue_type === "rpc";
  const payout = byClick ? undefined : ownPayout(event, overrides);
  const revenue = byClick ? undefined : ownRevenue(event, overrides);
  return {
    payoutType: payout?.type ?? event.payout_type,
    payoutRate: amountOf(payout?.payout ?? event.payout),
    revenueType: revenue?.type ?? event.revenue_type,
    revenueRate: amountOf(revenue?.revenue ?? event.revenue),
  };
}

/** All amounts are in the offer's currency. An event paid by click pays nothing by conversion (G43). */
export function computeMoney(
  terms: Terms,
  given: {
    readonly saleAmount: Amount;
    readonly payout: Amount | undefined;
    readonly revenue: Amount | undefined;
  },
): Money {
  return {
    saleAmount: given.saleAmount,
    payout: given.payout ?? bySale(terms.payoutType, terms.payoutRate, given.saleAmount),
    revenue: given.revenue ?? bySale(terms.revenueType, terms.revenueRate, given.saleAmount),
    payoutGiven: given.payout !== undefined,
    revenueGiven: given.revenue !== undefined,
  };
}

function bySale(
  type: Terms["payoutType"] | Terms["revenueType"],
  rate: Amount,
  saleAmount: Amount,
): Amount {
  switch (type) {
    case "cpa":
    case "rpa":
      return rate;
    case "cps":
    case "rps":
      return percentOf(saleAmount, rate);
    case "cpc":
    case "rpc":
      return 0n;
  }
}

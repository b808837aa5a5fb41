import {
  type Advertiser,
  CAP_PERIODS,
  type CapPeriod,
  type Caps,
  type Offer,
} from "../../schemas/catalog/records.ts";
import { formatAmount } from "../../schemas/money/amount.ts";
import type { Money } from "./conversion-terms.ts";

/** One counter that a conversion counts against. `limit` and `add` are decimal text. */
export type CapCount = {
  readonly cap: string;
  readonly period: CapPeriod;
  readonly limit: string;
  readonly add: string;
  readonly alert: boolean;
};

const KINDS = ["conversions", "payout", "revenue"] as const;

/**
 * Every counter of a conversion: of its offer and of its advertiser's budget (G39, G105). Money caps are in the offer's
 * currency, and so is a budget: one counter a currency, since amounts of different currencies are never added.
 */
export function capCounts(offer: Offer, advertiser: Advertiser, money: Money): CapCount[] {
  return [
    ...countsOf(`offer/${offer.id}`, offer.caps, offer.currency, money),
    ...countsOf(`advertiser/${advertiser.id}`, advertiser.budget_caps, offer.currency, money),
  ];
}

function countsOf(owner: string, caps: Caps, currency: string, money: Money): CapCount[] {
  const alert = caps.alert_only === true;
  return KINDS.flatMap((kind) =>
    CAP_PERIODS.flatMap((period): CapCount[] => {
      const limit = caps[kind]?.[period];
      if (limit === undefined) return [];
      const suffix = kind === "conversions" ? "" : `/${currency}`;
      const add = kind === "conversions" ? "1" : formatAmount(money[kind]);
      return [
        { cap: `${owner}/${kind}/${period}${suffix}`, period, limit: String(limit), add, alert },
      ];
    }),
  );
}

import { capName, capOwnerName } from "../../../schemas/catalog/cap-owners.ts";
import {
  type Advertiser,
  CAP_PERIODS,
  type CapPeriod,
  type Caps,
  type Offer,
  type OfferGroup,
} from "../../../schemas/catalog/records.ts";
import { formatAmount } from "../../../schemas/money/amount.ts";
import type { Money } from "../report/conversion-terms.ts";

/** One counter that a conversion counts against. `limit` and `add` are decimal text. */
export type CapCount = {
  readonly cap: string;
  readonly period: CapPeriod;
  readonly limit: string;
  readonly add: string;
  readonly alert: boolean;
};

const KINDS = ["conversions", "payout", "revenue"] as const;

/** The owners of the caps that a conversion counts against. */
export type CapOwners = {
  readonly offer: Offer;
  readonly advertiser: Advertiser;
  readonly groups: readonly OfferGroup[];
};

/**
 * Every counter of a conversion: of its offer, of its advertiser's budget and of its offer's groups (G39, G105). Money counts in the
 * offer's currency, for a budget or a group too: each currency has its own counter, because amounts of different currencies are never
 * added.
 */
export function capCounts({ offer, advertiser, groups }: CapOwners, money: Money): CapCount[] {
  const { currency } = offer;
  return [
    ...countsOf(capOwnerName("offer", offer.id), offer.caps, currency, money),
    ...countsOf(capOwnerName("advertiser", advertiser.id), advertiser.budget_caps, currency, money),
    ...groups.flatMap((group) =>
      countsOf(capOwnerName("group", group.id), group.caps, currency, money),
    ),
  ];
}

function countsOf(owner: string, caps: Caps, currency: string, money: Money): CapCount[] {
  const alert = caps.alert_only === true;
  return KINDS.flatMap((kind) =>
    CAP_PERIODS.flatMap((period): CapCount[] => {
      const limit = caps[kind]?.[period];
      if (limit === undefined) return [];
      const cap = capName(owner, kind, period, currency);
      const add = kind === "conversions" ? "1" : formatAmount(money[kind]);
      return [{ cap, period, limit: String(limit), add, alert }];
    }),
  );
}

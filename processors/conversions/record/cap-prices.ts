import { type CapOwner, capName, capOwnersOf } from "../../../schemas/catalog/cap-owners.ts";
import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { CAP_PERIODS, type Offer, type PayoutOverride } from "../../../schemas/catalog/records.ts";
import { type Amount, amountOf } from "../../../schemas/money/amount.ts";

/** The kinds of caps that count money. */
export const MONEY_KINDS = ["payout", "revenue"] as const;
export type MoneyKind = (typeof MONEY_KINDS)[number];

/**
 * The cheapest fixed price that counts against each money cap, by the name of the cap. A cap is missing if all its prices are percentages
 * or 0. Paused offers bring no clicks, so their prices count only for their own caps. `/cap-usage` has the same rule in SQL (G231).
 */
export function cheapestPrices(catalog: Catalog): ReadonlyMap<string, Amount> {
  const overridesOf = overridesByOffer(catalog);
  const cheapest = new Map<string, Amount>();
  for (const offer of catalog.offers.values()) {
    const owners = capOwnersOf(catalog, offer).filter(
      ({ isOffer }) => isOffer || offer.status === "active",
    );
    for (const kind of MONEY_KINDS) {
      const names = owners.flatMap((owner) => capNames(owner, kind, offer.currency));
      if (names.length === 0) continue;
      const price = cheapestOf(catalog, offer, overridesOf.get(offer.id) ?? [], kind);
      if (price === undefined) continue;
      for (const name of names) {
        const known = cheapest.get(name);
        if (known === undefined || price < known) cheapest.set(name, price);
      }
    }
  }
  return cheapest;
}

function capNames({ name, caps }: CapOwner, kind: MoneyKind, currency: string): string[] {
  return CAP_PERIODS.filter((period) => caps[kind]?.[period] !== undefined).map((period) =>
    capName(name, kind, period, currency),
  );
}

/** A price per click is a fixed price of its event, too. Overrides do not apply to offers paid by click (G46). */
function cheapestOf(
  catalog: Catalog,
  offer: Offer,
  overrides: readonly PayoutOverride[],
  kind: MoneyKind,
): Amount | undefined {
  const byClick = offer.payout_type === "cpc" || offer.revenue_type === "rpc";
  const prices = [...catalog.eventsOf(offer.id), ...(byClick ? [] : overrides)].map((terms) =>
    fixedPrice(terms, kind),
  );
  let cheapest: Amount | undefined;
  for (const price of prices) {
    if (price > 0n && (cheapest === undefined || price < cheapest)) cheapest = price;
  }
  return cheapest;
}

type Terms = {
  readonly payout_type: string | null;
  readonly payout: string | null;
  readonly revenue_type: string | null;
  readonly revenue: string | null;
};

/** 0 for a percentage, and where an override has no such price. */
function fixedPrice(terms: Terms, kind: MoneyKind): Amount {
  const [type, price] =
    kind === "payout" ? [terms.payout_type, terms.payout] : [terms.revenue_type, terms.revenue];
  return type === null || type === "cps" || type === "rps" ? 0n : amountOf(price ?? "0");
}

/** Overrides of partners who bring traffic. */
function overridesByOffer(catalog: Catalog): ReadonlyMap<number, readonly PayoutOverride[]> {
  const byOffer = new Map<number, PayoutOverride[]>();
  for (const override of catalog.overrides.all()) {
    if (catalog.affiliates.get(override.affiliate_id)?.status !== "active") continue;
    const known = byOffer.get(override.offer_id);
    if (known === undefined) byOffer.set(override.offer_id, [override]);
    else known.push(override);
  }
  return byOffer;
}

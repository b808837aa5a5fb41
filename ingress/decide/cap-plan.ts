import { type CapOwner, capName, capOwnersOf } from "../../schemas/catalog/cap-owners.ts";
import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { CAP_PERIODS, type CapPeriod, type Offer } from "../../schemas/catalog/records.ts";

/** One cap that applies to an offer's clicks. */
export type WatchedCap = {
  readonly name: string;
  readonly period: CapPeriod;
  /** When it is reached, clicks are only marked with `cap_over` and none is stopped (G40). */
  readonly isAlert: boolean;
  /** Decimal text, as in the catalog. */
  readonly limit: string;
};

/** All caps of an offer: `clicks` are counted here, `counters` by the conversion processors. */
export type CapPlan = {
  readonly clicks: readonly (WatchedCap & { readonly clicksMax: number })[];
  readonly counters: readonly WatchedCap[];
};

const COUNTER_KINDS = ["conversions", "payout", "revenue"] as const;

/** Caps of the offer, its advertiser's budget and its groups; undefined when there are none. */
export function capPlanOf(catalog: Catalog, offer: Offer): CapPlan | undefined {
  const owners = capOwnersOf(catalog, offer);
  if (owners.length === 0) return undefined;
  const clicks = owners.flatMap((owner) =>
    watched(owner, "clicks", offer.currency).map((cap) => ({
      ...cap,
      clicksMax: Number(cap.limit),
    })),
  );
  const counters = owners.flatMap((owner) =>
    COUNTER_KINDS.flatMap((kind) => watched(owner, kind, offer.currency)),
  );
  return { clicks, counters };
}

function watched(
  { name: owner, caps }: CapOwner,
  kind: "clicks" | (typeof COUNTER_KINDS)[number],
  currency: string,
): WatchedCap[] {
  return CAP_PERIODS.flatMap((period): WatchedCap[] => {
    const limit = caps[kind]?.[period];
    if (limit === undefined) return [];
    const name = capName(owner, kind, period, currency);
    return [{ name, period, isAlert: caps.alert_only === true, limit: String(limit) }];
  });
}

import type { Catalog } from "./catalog.ts";
import type { CapPeriod, Caps, Offer } from "./records.ts";

/** What caps count. Money is counted per currency, because amounts of different currencies are never added. */
export type CapKind = "clicks" | "conversions" | "payout" | "revenue";

/** One owner of caps that an offer's traffic counts against: the offer, its advertiser (the budget) or a group (G39, G105). */
export type CapOwner = {
  /** See {@link capOwnerName}. */
  readonly name: string;
  readonly caps: Caps;
  /** Whether it is the offer itself. */
  readonly isOffer: boolean;
};

/** The name under which Postgres, the click writers and ingress count. */
export function capOwnerName(kind: "offer" | "advertiser" | "group", id: number): string {
  return `${kind}/${id}`;
}

/** Owners without any cap are left out. */
export function capOwnersOf(catalog: Catalog, offer: Offer): CapOwner[] {
  const owners: CapOwner[] = [];
  if (hasCaps(offer.caps)) {
    owners.push({ name: capOwnerName("offer", offer.id), caps: offer.caps, isOffer: true });
  }
  const advertiser = catalog.advertisers.get(offer.advertiser_id);
  if (advertiser !== undefined && hasCaps(advertiser.budget_caps)) {
    const name = capOwnerName("advertiser", advertiser.id);
    owners.push({ name, caps: advertiser.budget_caps, isOffer: false });
  }
  for (const group of catalog.groupsOf(offer.id)) {
    if (hasCaps(group.caps))
      owners.push({ name: capOwnerName("group", group.id), caps: group.caps, isOffer: false });
  }
  return owners;
}

/** The name of one counter, the same in Postgres (`cap_counter`), in the click writers and in ingress. */
export function capName(owner: string, kind: CapKind, period: CapPeriod, currency: string): string {
  const isMoney = kind === "payout" || kind === "revenue";
  return `${owner}/${kind}/${period}${isMoney ? `/${currency}` : ""}`;
}

function hasCaps(caps: Caps): boolean {
  return (
    caps.clicks !== undefined ||
    caps.conversions !== undefined ||
    caps.payout !== undefined ||
    caps.revenue !== undefined
  );
}

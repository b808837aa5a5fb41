import type { Catalog } from "../../schemas/catalog/catalog.ts";
import type { Affiliate, Offer, SmartLink, Workspace } from "../../schemas/catalog/records.ts";

const DIGITS = /^[1-9]\d{0,9}$/;

/** An offer and a partner of one workspace. */
export type OfferLink = {
  readonly workspace: Workspace;
  readonly offer: Offer;
  readonly affiliate: Affiliate;
};

/** A smart link and the partner whose click it is. */
export type SmartLinkHit = {
  readonly workspace: Workspace;
  readonly smartLink: SmartLink;
  readonly affiliate: Affiliate;
};

/** The records found by what a link says, and the workspaces that its host serves (G26, G153). */
type Place = { readonly catalog: Catalog; readonly workspaceIds: readonly number[] };

export function placeOf(catalog: Catalog, host: string): Place {
  return { catalog, workspaceIds: catalog.workspaceIdsOfHost(host) };
}

/**
 * The offer and the partner that two codes, or ids, name in one workspace of the host: the lowest one when several have both
 * (G26). Digits are tried as a code first, then as an id (G25).
 */
export function findOfferLink(
  place: Place,
  offerCode: string,
  affiliateCode: string,
): OfferLink | undefined {
  if (offerCode === "" || affiliateCode === "") return undefined;
  let found: OfferLink | undefined;
  for (const offer of offersNamed(place, offerCode)) {
    if (found !== undefined && found.workspace.id <= offer.workspace_id) continue;
    const affiliate = affiliateNamed(place.catalog, offer.workspace_id, affiliateCode);
    const workspace = place.catalog.workspaces.get(offer.workspace_id);
    if (affiliate !== undefined && workspace !== undefined) found = { workspace, offer, affiliate };
  }
  return found;
}

/** The pair that a key of `/c/` names: `<offer_code>-<affiliate_code>`, else a key made by hand (G183). */
export function findLinkKey(place: Place, key: string): OfferLink | undefined {
  // Offer codes may hold hyphens, partner codes may not (T24).
  const hyphen = key.lastIndexOf("-");
  const pair =
    hyphen > 0 ? findOfferLink(place, key.slice(0, hyphen), key.slice(hyphen + 1)) : undefined;
  return pair ?? findMadeKey(place, key);
}

/** `<smart_code>-<affiliate_code>`, or `<smart_code>` with a partner named beside it or bound to it (G147). */
export function findSmartLink(
  place: Place,
  segment: string,
  affiliateCode: string,
): SmartLinkHit | undefined {
  const whole = smartLinkNamed(place, segment, affiliateCode);
  if (whole !== undefined) return whole;
  const hyphen = segment.lastIndexOf("-");
  if (hyphen <= 0) return undefined;
  return smartLinkNamed(place, segment.slice(0, hyphen), segment.slice(hyphen + 1));
}

/** Offers that a code or id names in the workspaces of the host, those of the code first within each workspace. */
export function offersNamed({ catalog, workspaceIds }: Place, code: string): readonly Offer[] {
  const named = catalog
    .offersByCode(code)
    .filter((offer) => workspaceIds.includes(offer.workspace_id));
  if (!DIGITS.test(code)) return named;
  // An id that is also a code in another workspace still names its offer.
  const numbered = catalog.offers.get(Number(code));
  const isNew =
    numbered !== undefined &&
    workspaceIds.includes(numbered.workspace_id) &&
    !named.some((offer) => offer.workspace_id === numbered.workspace_id);
  return isNew ? [...named, numbered] : named;
}

export function affiliateNamed(
  catalog: Catalog,
  workspaceId: number,
  code: string,
): Affiliate | undefined {
  for (const affiliate of catalog.affiliatesByCode(code)) {
    if (affiliate.workspace_id === workspaceId) return affiliate;
  }
  if (!DIGITS.test(code)) return undefined;
  const numbered = catalog.affiliates.get(Number(code));
  return numbered?.workspace_id === workspaceId ? numbered : undefined;
}

function findMadeKey({ catalog, workspaceIds }: Place, key: string): OfferLink | undefined {
  for (const { workspace_id, offer_id, affiliate_id } of catalog.linkKeys(key)) {
    const workspace = catalog.workspaces.get(workspace_id);
    const offer = catalog.offers.get(offer_id);
    const affiliate = catalog.affiliates.get(affiliate_id);
    const isServed = workspaceIds.includes(workspace_id);
    if (isServed && workspace !== undefined && offer !== undefined && affiliate !== undefined) {
      return { workspace, offer, affiliate };
    }
  }
  return undefined;
}

function smartLinkNamed(
  { catalog, workspaceIds }: Place,
  code: string,
  affiliateCode: string,
): SmartLinkHit | undefined {
  const links = catalog
    .smartLinksByCode(code)
    .filter((link) => workspaceIds.includes(link.workspace_id))
    .toSorted((a, b) => a.workspace_id - b.workspace_id);
  for (const smartLink of links) {
    const workspace = catalog.workspaces.get(smartLink.workspace_id);
    const affiliate = affiliateOfSmartLink(catalog, smartLink, affiliateCode);
    if (workspace !== undefined && affiliate !== undefined) {
      return { workspace, smartLink, affiliate };
    }
  }
  return undefined;
}

/** A smart link that is bound to a partner is no other partner's. */
function affiliateOfSmartLink(
  catalog: Catalog,
  smartLink: SmartLink,
  affiliateCode: string,
): Affiliate | undefined {
  const { affiliate_id: boundId, workspace_id } = smartLink;
  const bound = boundId === null ? undefined : catalog.affiliates.get(boundId);
  if (affiliateCode === "") return bound;
  const named = affiliateNamed(catalog, workspace_id, affiliateCode);
  return boundId === null || named?.id === boundId ? named : undefined;
}

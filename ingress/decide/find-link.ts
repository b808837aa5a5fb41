import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { affiliateNamed, offersNamed, ofWorkspaces } from "../../schemas/catalog/named-records.ts";
import type { Affiliate, Offer, SmartLink, Workspace } from "../../schemas/catalog/records.ts";

/** An offer and a partner of one workspace. */
export type OfferLink = {
  readonly workspace: Workspace;
  readonly offer: Offer;
  readonly affiliate: Affiliate;
};

/** A smart link and the partner who gets its click. */
export type SmartLinkHit = {
  readonly workspace: Workspace;
  readonly smartLink: SmartLink;
  readonly affiliate: Affiliate;
};

/** Where a link is looked up: the catalog, and the workspaces that the link's host serves (G26, G153). */
type LinkScope = { readonly catalog: Catalog; readonly workspaceIds: readonly number[] };

export function linkScopeOf(catalog: Catalog, host: string): LinkScope {
  return { catalog, workspaceIds: catalog.workspaceIdsOfHost(host) };
}

/**
 * Finds the offer and the partner that two codes, or IDs, name in one workspace of the host. Codes are preferred to IDs. When
 * several workspaces have both, the one that had the host first is used (G26, G200).
 */
export function findOfferLink(
  { catalog, workspaceIds }: LinkScope,
  offerCode: string,
  affiliateCode: string,
): OfferLink | undefined {
  if (offerCode === "" || affiliateCode === "") return undefined;
  for (const offer of offersNamed(catalog, workspaceIds, offerCode)) {
    const affiliate = affiliateNamed(catalog, offer.workspace_id, affiliateCode);
    const workspace = catalog.workspaces.get(offer.workspace_id);
    if (affiliate !== undefined && workspace !== undefined) return { workspace, offer, affiliate };
  }
  return undefined;
}

/** Finds the pair of a `/c/` key: `<offer_code>-<affiliate_code>`, else a stored key (G183). */
export function findLinkKey(scope: LinkScope, key: string): OfferLink | undefined {
  // Offer codes may contain hyphens, partner codes may not (T24).
  const hyphen = key.lastIndexOf("-");
  const pair =
    hyphen > 0 ? findOfferLink(scope, key.slice(0, hyphen), key.slice(hyphen + 1)) : undefined;
  return pair ?? findStoredKey(scope, key);
}

/**
 * Finds a smart link by `<smart_code>-<affiliate_code>`, or by `<smart_code>` with a partner named in a parameter or bound to it
 * (G147). Both readings are tried in one workspace before the next: a code in a later workspace never wins over a link of an earlier one.
 */
export function findSmartLink(
  { catalog, workspaceIds }: LinkScope,
  segment: string,
  affiliateCode: string,
): SmartLinkHit | undefined {
  const hyphen = segment.lastIndexOf("-");
  const whole = readingsOf(catalog, segment, affiliateCode);
  const parted =
    hyphen <= 0 ? [] : readingsOf(catalog, segment.slice(0, hyphen), segment.slice(hyphen + 1));
  // Within a workspace the reading as a whole code stays first.
  for (const { smartLink, affiliateCode: code } of ofWorkspaces(
    [...whole, ...parted],
    workspaceIds,
  )) {
    const workspace = catalog.workspaces.get(smartLink.workspace_id);
    const affiliate = affiliateOfSmartLink(catalog, smartLink, code);
    if (workspace !== undefined && affiliate !== undefined) {
      return { workspace, smartLink, affiliate };
    }
  }
  return undefined;
}

function readingsOf(catalog: Catalog, smartCode: string, affiliateCode: string) {
  return catalog
    .smartLinksByCode(smartCode)
    .map((smartLink) => ({ workspace_id: smartLink.workspace_id, smartLink, affiliateCode }));
}

function findStoredKey({ catalog, workspaceIds }: LinkScope, key: string): OfferLink | undefined {
  for (const { workspace_id, offer_id, affiliate_id } of ofWorkspaces(
    catalog.linkKeys(key),
    workspaceIds,
  )) {
    const workspace = catalog.workspaces.get(workspace_id);
    const offer = catalog.offers.get(offer_id);
    const affiliate = catalog.affiliates.get(affiliate_id);
    if (workspace !== undefined && offer !== undefined && affiliate !== undefined) {
      return { workspace, offer, affiliate };
    }
  }
  return undefined;
}

/** A smart link bound to a partner cannot be used for another partner. */
function affiliateOfSmartLink(
  catalog: Catalog,
  { affiliate_id: boundId, workspace_id }: SmartLink,
  affiliateCode: string,
): Affiliate | undefined {
  if (affiliateCode === "") {
    return boundId === null ? undefined : catalog.affiliates.get(boundId);
  }
  const named = affiliateNamed(catalog, workspace_id, affiliateCode);
  return boundId === null || named?.id === boundId ? named : undefined;
}

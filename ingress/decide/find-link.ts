import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { CODE_LENGTH_MAX } from "../../schemas/catalog/code-form.ts";
import { foldCase } from "../../schemas/catalog/code-index.ts";
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
 * several workspaces have both, the one that had the host first is used (G26, G200). Aliases come after both (N112).
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
  let aliased: OfferLink | undefined;
  for (const [offerCode, affiliateCode] of partsOf(scope.catalog, key)) {
    const pair = findOfferLink(scope, offerCode, affiliateCode);
    if (pair === undefined) continue;
    // Codes and ids win over aliases, wherever the hyphen between the two is.
    if (names(pair.offer, offerCode) && names(pair.affiliate, affiliateCode)) return pair;
    aliased ??= pair;
  }
  return aliased ?? findStoredKey(scope, key);
}

/**
 * The two codes of a link key or smart link, separated by its last hyphen (T24). Only if partners have codes with a hyphen, the other
 * hyphens are tried too, from the last to the first.
 */
function partsOf(catalog: Catalog, text: string): (readonly [left: string, right: string])[] {
  const parts: (readonly [string, string])[] = [];
  let hyphen = text.lastIndexOf("-");
  while (hyphen > 0) {
    parts.push([text.slice(0, hyphen), text.slice(hyphen + 1)]);
    if (!catalog.hasHyphenedPartners || text.length - hyphen > CODE_LENGTH_MAX) break;
    hyphen = text.lastIndexOf("-", hyphen - 1);
  }
  return parts;
}

function names(
  { id, code }: { readonly id: number; readonly code: string },
  text: string,
): boolean {
  return foldCase(code) === foldCase(text) || String(id) === text;
}

/**
 * Finds a smart link by `<smart_code>-<affiliate_code>`, or by `<smart_code>` with a partner named in a parameter or bound to it
 * (G147). All readings are tried in one workspace before the next: a code in a later workspace never wins over a link of an earlier one.
 * Aliases of smart links are asked when no code gives a link (N112).
 */
export function findSmartLink(
  scope: LinkScope,
  segment: string,
  affiliateCode: string,
): SmartLinkHit | undefined {
  const { catalog } = scope;
  // Within a workspace the reading as a whole code stays first.
  const readings = [[segment, affiliateCode] as const, ...partsOf(catalog, segment)];
  const hit = hitOf(scope, readings, (code) => catalog.smartLinksByCode(code));
  if (hit !== undefined || catalog.aliases.isEmpty) return hit;
  return hitOf(scope, readings, (code) => catalog.aliases.smartLinks(code));
}

function hitOf(
  { catalog, workspaceIds }: LinkScope,
  readings: readonly (readonly [smartCode: string, affiliateCode: string])[],
  linksOf: (code: string) => readonly SmartLink[],
): SmartLinkHit | undefined {
  const found = readings.flatMap(([smartCode, affiliateCode]) =>
    linksOf(smartCode).map((smartLink) => ({
      workspace_id: smartLink.workspace_id,
      smartLink,
      affiliateCode,
    })),
  );
  for (const { smartLink, affiliateCode } of ofWorkspaces(found, workspaceIds)) {
    const workspace = catalog.workspaces.get(smartLink.workspace_id);
    const affiliate = affiliateOfSmartLink(catalog, smartLink, affiliateCode);
    if (workspace !== undefined && affiliate !== undefined) {
      return { workspace, smartLink, affiliate };
    }
  }
  return undefined;
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

import type { Catalog } from "./catalog.ts";
import type { Affiliate, Offer } from "./records.ts";

const DIGITS = /^[1-9]\d{0,9}$/;

/**
 * Finds offers in some workspaces by a code (case is ignored) or, in a workspace without that code, by an id (G25). Offers found by code
 * come first, in the order of the workspaces: a code is unique among the workspaces of a host (G200), but it may be a number that is the
 * id of another workspace's offer.
 */
export function offersNamed(
  catalog: Catalog,
  workspaceIds: readonly number[],
  code: string,
): readonly Offer[] {
  const coded = catalog
    .offersByCode(code)
    .filter((offer) => workspaceIds.includes(offer.workspace_id));
  if (coded.length > 1) coded.sort(inOrderOf(workspaceIds));
  if (!DIGITS.test(code)) return coded;
  const numbered = catalog.offers.get(Number(code));
  const isNew =
    numbered !== undefined &&
    workspaceIds.includes(numbered.workspace_id) &&
    !coded.some((offer) => offer.workspace_id === numbered.workspace_id);
  return isNew ? [...coded, numbered] : coded;
}

/** Finds a partner of a workspace by a code or an id, in the same way. */
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

/** Sorts records in the order of their workspaces. */
export function inOrderOf(workspaceIds: readonly number[]) {
  return (a: { readonly workspace_id: number }, b: { readonly workspace_id: number }): number =>
    workspaceIds.indexOf(a.workspace_id) - workspaceIds.indexOf(b.workspace_id);
}

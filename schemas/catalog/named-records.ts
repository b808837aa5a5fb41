import type { Catalog } from "./catalog.ts";
import type { Affiliate, Offer } from "./records.ts";

const DIGITS = /^[1-9]\d{0,9}$/;

/**
 * Offers that a code (any case), or digits that are no code there an id (G25), name in some workspaces. Those named by code come
 * first, in the order of the workspaces: a code is one workspace's own on its hosts (G200), while any workspace may give digits
 * as a code.
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

/** The partner that a code, or digits that are no code there an id, name in a workspace. */
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

/** Sorts records of workspaces in the order of the workspaces. */
export function inOrderOf(workspaceIds: readonly number[]) {
  return (a: { readonly workspace_id: number }, b: { readonly workspace_id: number }): number =>
    workspaceIds.indexOf(a.workspace_id) - workspaceIds.indexOf(b.workspace_id);
}

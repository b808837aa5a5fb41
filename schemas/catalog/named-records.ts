import type { Catalog } from "./catalog.ts";
import type { Affiliate, Offer } from "./records.ts";

const DIGITS = /^[1-9]\d{0,9}$/;
/** Most hosts serve fewer workspaces, and a short list is searched faster than a map. */
const SHORT = 8;

type OfWorkspace = { readonly workspace_id: number };

/** A host without an owner serves all workspaces, and its list is the same object until they change. */
const placesOfLongLists = new WeakMap<readonly number[], ReadonlyMap<number, number>>();

/**
 * Finds offers in some workspaces by a code (case is ignored) or, in a workspace without that code, by an id (G25) or else by an alias
 * (N112). Offers found by code come first, in the order of the workspaces: a code is unique among the workspaces of a host (G200), but it
 * may be a number that is the id of another workspace's offer. Offers found by alias come last.
 */
export function offersNamed(
  catalog: Catalog,
  workspaceIds: readonly number[],
  code: string,
): readonly Offer[] {
  const coded = ofWorkspaces(catalog.offersByCode(code), workspaceIds);
  const named = DIGITS.test(code) ? withNumbered(catalog, workspaceIds, coded, code) : coded;
  if (catalog.aliases.isEmpty) return named;
  const aliased = ofWorkspaces(catalog.aliases.offers(code), workspaceIds);
  return [...named, ...aliased.filter((offer) => !hasWorkspace(named, offer))];
}

function withNumbered(
  catalog: Catalog,
  workspaceIds: readonly number[],
  coded: readonly Offer[],
  digits: string,
): readonly Offer[] {
  const numbered = catalog.offers.get(Number(digits));
  const isNew =
    numbered !== undefined &&
    workspaceIds.includes(numbered.workspace_id) &&
    !hasWorkspace(coded, numbered);
  return isNew ? [...coded, numbered] : coded;
}

function hasWorkspace(offers: readonly Offer[], { workspace_id }: Offer): boolean {
  return offers.some((offer) => offer.workspace_id === workspace_id);
}

/** Finds a partner of a workspace by a code, an id or an alias, in the same way. */
export function affiliateNamed(
  catalog: Catalog,
  workspaceId: number,
  code: string,
): Affiliate | undefined {
  const coded = catalog.affiliateByCode(workspaceId, code);
  if (coded !== undefined) return coded;
  const numbered = DIGITS.test(code) ? catalog.affiliates.get(Number(code)) : undefined;
  if (numbered?.workspace_id === workspaceId) return numbered;
  return catalog.aliases.isEmpty ? undefined : catalog.aliases.affiliate(workspaceId, code);
}

/** The records of some workspaces, in the order of the workspaces. Records of one workspace keep their order. */
export function ofWorkspaces<T extends OfWorkspace>(
  records: readonly T[],
  workspaceIds: readonly number[],
): readonly T[] {
  const placeOf = placesIn(workspaceIds);
  const served = records.filter((record) => placeOf(record.workspace_id) >= 0);
  if (served.length > 1) served.sort((a, b) => placeOf(a.workspace_id) - placeOf(b.workspace_id));
  return served;
}

/** The place of a workspace in the list, or -1. */
function placesIn(workspaceIds: readonly number[]): (id: number) => number {
  if (workspaceIds.length <= SHORT) return (id) => workspaceIds.indexOf(id);
  let places = placesOfLongLists.get(workspaceIds);
  if (places === undefined) {
    places = new Map(workspaceIds.map((id, place) => [id, place]));
    placesOfLongLists.set(workspaceIds, places);
  }
  const known = places;
  return (id) => known.get(id) ?? -1;
}

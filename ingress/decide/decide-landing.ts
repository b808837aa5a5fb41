import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { affiliateNamed, offersNamed } from "../../schemas/catalog/named-records.ts";
import type { Affiliate, Offer, Workspace } from "../../schemas/catalog/records.ts";
import type { LandingRequest } from "../request/landing-request.ts";
import type { Visit } from "../request/visit.ts";
import { isApproved, isPaused } from "./click-conditions.ts";
import { findOfferLink, placeOf } from "./find-link.ts";
import { offerRules } from "./offer-rules.ts";

/** Whose click a visit becomes that no recorded click is known of. */
export type LandingTarget = {
  readonly kind: "target";
  readonly linkType: "direct" | "organic";
  readonly workspace: Workspace;
  /** Undefined for an organic visit of no offer. */
  readonly offer: Offer | undefined;
  readonly affiliate: Affiliate | undefined;
};

/** The text of a refusal, as `/pb` has it. */
export type LandingRefusal = { readonly kind: "refused"; readonly error: LandingError };
export type LandingError =
  | "unknown offer"
  | "offer required"
  | "workspace not active"
  | "this tracking domain does not serve the offer"
  | "offer not active"
  | "unknown affiliate"
  | "affiliate not active"
  | "affiliate not approved for this offer";

/** Workspaces whose clicks a visit may belong to, and the offer whose clicks go first. */
export type LandingScope = {
  readonly workspaceIds: readonly number[];
  readonly offer: Offer | undefined;
};

/** Those that the host serves; that of the offer alone when the page names one that is served. */
export function landingScope(
  catalog: Catalog,
  host: string,
  { offerCode, affiliateCode }: LandingRequest,
): LandingScope {
  const place = placeOf(catalog, host);
  if (offerCode === "") return { workspaceIds: place.workspaceIds, offer: undefined };
  // Of several workspaces with such an offer, the one that has the partner too (G26), else the one that had the host first.
  const pair = findOfferLink(place, offerCode, affiliateCode);
  const offer = pair?.offer ?? offersNamed(catalog, place.workspaceIds, offerCode)[0];
  return { workspaceIds: offer === undefined ? place.workspaceIds : [offer.workspace_id], offer };
}

/**
 * The click to make of a visit, or the first thing that stands against it: offer, workspace, then partner. Targeting and caps
 * are for people who are sent somewhere; this visitor is there already.
 */
export function decideLanding(
  catalog: Catalog,
  landing: LandingRequest,
  scope: LandingScope,
  visit: { readonly visit: Visit; readonly atMs: number },
): LandingTarget | LandingRefusal {
  const { offer } = scope;
  if (landing.offerCode !== "" && offer === undefined) {
    const isElsewhere = catalog.offersByCode(landing.offerCode).length > 0;
    return refused(isElsewhere ? "this tracking domain does not serve the offer" : "unknown offer");
  }
  if (landing.isOrganic) return organicTarget(catalog, scope, visit);
  if (offer === undefined) return refused("offer required");
  const workspace = catalog.workspaces.get(offer.workspace_id);
  if (workspace?.status !== "active") return refused("workspace not active");
  if (isClosed(catalog, offer, visit)) return refused("offer not active");
  const affiliate = affiliateFor(catalog, offer, landing.affiliateCode);
  if (typeof affiliate === "string") return refused(affiliate);
  return { kind: "target", linkType: "direct", workspace, offer, affiliate };
}

/** The partner that a page names, undefined when it names none, or why they are not credited. */
function affiliateFor(
  catalog: Catalog,
  offer: Offer,
  code: string,
): Affiliate | undefined | LandingError {
  if (code === "") return undefined;
  const affiliate = affiliateNamed(catalog, offer.workspace_id, code);
  if (affiliate === undefined) return "unknown affiliate";
  if (affiliate.status !== "active") return "affiliate not active";
  return isApproved(catalog, offer, affiliate)
    ? affiliate
    : "affiliate not approved for this offer";
}

/** The workspace's organic partner takes it, whatever partner the page names; they need no approval of an offer. */
function organicTarget(
  catalog: Catalog,
  { workspaceIds, offer }: LandingScope,
  visit: { readonly visit: Visit; readonly atMs: number },
): LandingTarget | LandingRefusal {
  const workspaces = workspaceIds.flatMap((id) => catalog.workspaces.get(id) ?? []);
  const workspace =
    workspaces.find((one) => one.status === "active" && one.organic_affiliate_id !== null) ??
    workspaces.find((one) => one.status === "active");
  if (workspace === undefined) return refused("workspace not active");
  if (offer !== undefined && isClosed(catalog, offer, visit)) return refused("offer not active");
  const affiliate = catalog.affiliates.get(workspace.organic_affiliate_id ?? 0);
  if (affiliate === undefined) return refused("unknown affiliate");
  if (affiliate.status !== "active") return refused("affiliate not active");
  return { kind: "target", linkType: "organic", workspace, offer, affiliate };
}

function isClosed(
  catalog: Catalog,
  offer: Offer,
  { visit, atMs }: { readonly visit: Visit; readonly atMs: number },
): boolean {
  return isPaused(catalog, offer) || offerRules(offer).targeting?.judge(visit, atMs) === "closed";
}

function refused(error: LandingError): LandingRefusal {
  return { kind: "refused", error };
}

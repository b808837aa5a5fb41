import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { affiliateNamed, offersNamed } from "../../schemas/catalog/named-records.ts";
import type { Affiliate, Offer, Workspace } from "../../schemas/catalog/records.ts";
import type { LandingRequest } from "../request/landing-request.ts";
import type { Visit } from "../request/visit.ts";
import { isApproved, isPaused } from "./click-conditions.ts";
import { findOfferLink, linkScopeOf } from "./find-link.ts";
import { offerRules } from "./offer-rules.ts";

/** Which offer and partner get credit for a visit without a recorded click. */
export type LandingTarget = {
  readonly kind: "target";
  readonly linkType: "direct" | "organic";
  readonly workspace: Workspace;
  /** Undefined for an organic visit without an offer. */
  readonly offer: Offer | undefined;
  readonly affiliate: Affiliate | undefined;
};

/** A refusal, worded like a refusal of `/pb`. */
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

/** Workspaces whose clicks a visit may belong to, and the offer whose clicks are preferred. */
export type LandingScope = {
  readonly workspaceIds: readonly number[];
  readonly offer: Offer | undefined;
};

/** All workspaces of the host; only the offer's workspace when the page names an offer of one of them. */
export function landingScope(
  catalog: Catalog,
  host: string,
  { offerCode, affiliateCode }: LandingRequest,
): LandingScope {
  const scope = linkScopeOf(catalog, host);
  if (offerCode === "") return { workspaceIds: scope.workspaceIds, offer: undefined };
  // Several workspaces may have such an offer: prefer one that has the partner too (G26), then the workspace that had the host first.
  const pair = findOfferLink(scope, offerCode, affiliateCode);
  const offer = pair?.offer ?? offersNamed(catalog, scope.workspaceIds, offerCode)[0];
  return { workspaceIds: offer === undefined ? scope.workspaceIds : [offer.workspace_id], offer };
}

/**
 * Decides which click to make for a visit, or returns the first reason against it: offer, workspace, then partner. Targeting and
 * caps do not apply, because this visitor is on the page already.
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

/** Returns the partner that a page names, undefined when it names none, or the reason why the partner gets no credit. */
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

/** The workspace's organic partner gets the visit, whichever partner the page names, and needs no approval for an offer. */
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

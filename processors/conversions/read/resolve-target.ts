import type { Catalog } from "../../../schemas/catalog/catalog.ts";
import { affiliateNamed, offersNamed } from "../../../schemas/catalog/named-records.ts";
import type {
  Advertiser,
  Affiliate,
  Offer,
  OfferEvent,
  Workspace,
} from "../../../schemas/catalog/records.ts";
import type { ClickRecord } from "../../../schemas/events/click-record.ts";
import { resolveTerms, type Terms } from "../report/conversion-terms.ts";
import { malformed, type Refusal, refused } from "../report/refusal.ts";
import { NO_CLICK_OF_PIXEL, type Report } from "../report/report-params.ts";
import { FOREIGN_OFFER, mayActFor, type Sender } from "../report/sender.ts";

/** The records that a report is about. */
export type Target = {
  readonly kind: "target";
  readonly workspace: Workspace;
  readonly offer: Offer;
  readonly advertiser: Advertiser;
  readonly event: OfferEvent;
  readonly affiliate: Affiliate | undefined;
  /** Why the report must not create a conversion; an existing one may still be changed (G36, G116). */
  readonly creationRefusal: Refusal | undefined;
};

/** The offer and partner that a coupon credits in place of a click. */
export type CouponCredit = {
  readonly kind: "coupon";
  readonly offer: Offer;
  readonly affiliate: Affiliate;
};

/** What a report is credited to. Both are undefined when the report names its offer and partner itself. */
export type Credit = {
  readonly click: ClickRecord | undefined;
  readonly coupon?: CouponCredit | undefined;
};

export type Origin = {
  readonly sender: Sender;
  /** Tracking host that the report came to. */
  readonly host: string;
};

const UNKNOWN_CLICK = refused("unknown click_id", "unknown_click");

/** Offer, event and partner of a report, or a business error that names the mismatch. */
export function resolveTarget(
  catalog: Catalog,
  report: Report,
  credit: Credit,
  origin: Origin,
): Target | Refusal {
  const { sender } = origin;
  const workspaceIds = workspacesInReach(catalog, credit.click, origin);
  if (isRefusal(workspaceIds)) return workspaceIds;
  const offer = resolveOffer(catalog, report, credit, workspaceIds);
  if (isRefusal(offer)) return offer;
  const owners = ownersOf(catalog, offer, origin);
  if (isRefusal(owners)) return owners;
  const event = catalog.eventOf(offer.id, report.eventCode);
  if (event === undefined) {
    return report.eventCode === "default"
      ? refused("offer has no default event")
      : malformed("unknown event for this offer");
  }
  const affiliate = resolveAffiliate(catalog, report, credit, {
    workspace: owners.workspace,
    sender,
  });
  return {
    kind: "target",
    ...owners,
    offer,
    event,
    affiliate: isRefusal(affiliate) ? undefined : affiliate,
    creationRefusal: refusedMethod(offer, sender) ?? (isRefusal(affiliate) ? affiliate : undefined),
  };
}

/** Workspaces whose offers the report may be about. */
function workspacesInReach(
  catalog: Catalog,
  click: ClickRecord | undefined,
  { sender, host }: Origin,
): readonly number[] | Refusal {
  const senderWorkspaceId = sender.kind === "pixel" ? undefined : sender.workspace.id;
  if (click === undefined)
    return senderWorkspaceId === undefined ? catalog.workspaceIdsOfHost(host) : [senderWorkspaceId];
  // A click of another workspace, or of none (G140), counts as unknown.
  const isKnown = catalog.workspaces.has(click.workspace_id);
  return isKnown && (senderWorkspaceId === undefined || senderWorkspaceId === click.workspace_id)
    ? [click.workspace_id]
    : UNKNOWN_CLICK;
}

/** Workspace and advertiser of the offer, if the sender may report for them. */
function ownersOf(
  catalog: Catalog,
  offer: Offer,
  { sender, host }: Origin,
): Pick<Target, "workspace" | "advertiser"> | Refusal {
  const workspace = catalog.workspaces.get(offer.workspace_id);
  const advertiser = catalog.advertisers.get(offer.advertiser_id);
  if (workspace === undefined || advertiser === undefined)
    return refused("unknown offer_id", "unknown_offer");
  if (!mayActFor(sender, advertiser.id)) return FOREIGN_OFFER;
  if (workspace.status !== "active") return refused("workspace not active");
  if (!catalog.workspaceIdsOfHost(host).includes(workspace.id)) {
    return refused("this tracking domain does not serve the offer's workspace");
  }
  return { workspace, advertiser };
}

function resolveOffer(
  catalog: Catalog,
  report: Report,
  { click, coupon }: Credit,
  workspaceIds: readonly number[],
): Offer | Refusal {
  if (coupon !== undefined) return coupon.offer;
  const ofClick = click === undefined || click.offer_id === 0 ? undefined : click.offer_id;
  if (report.offerCode !== undefined) {
    const [named] = offersNamed(catalog, workspaceIds, report.offerCode);
    if (named === undefined) return refused("unknown offer_id", "unknown_offer");
    if (ofClick !== undefined && named.id !== ofClick)
      return refused("offer_id does not match the click");
    return named;
  }
  if (ofClick !== undefined) {
    return (
      catalog.offers.get(ofClick) ??
      refused("offer of this click no longer exists", "unknown_offer")
    );
  }
  return click === undefined
    ? refused("offer_id required for a conversion without click")
    : refused("offer_id required: the click is not tied to an offer");
}

/** The click's partner. Without a click: the named partner, else the workspace's organic partner (G116). */
function resolveAffiliate(
  catalog: Catalog,
  report: Report,
  { click, coupon }: Credit,
  { workspace, sender }: { readonly workspace: Workspace; readonly sender: Sender },
): Affiliate | undefined | Refusal {
  if (coupon !== undefined) return coupon.affiliate;
  if (click !== undefined && click.affiliate_id !== 0)
    return catalog.affiliates.get(click.affiliate_id);
  if (report.affiliateCode !== undefined) {
    return affiliateNamed(catalog, workspace.id, report.affiliateCode) ?? refused("unknown aff_id");
  }
  if (click !== undefined) return undefined;
  const organic = catalog.affiliates.get(workspace.organic_affiliate_id ?? 0);
  return organic ?? noPartnerSent(sender);
}

/** A pixel should bring a click, so its refusal says which click is missing. For `/pb` the contract fixes the text (G116). */
function noPartnerSent({ kind }: Sender): Refusal {
  return kind === "pixel"
    ? refused(`click_id required: ${NO_CLICK_OF_PIXEL}. Without a click, aff_id is required`)
    : {
        ...refused("unknown aff_id"),
        hint: "neither a click nor aff_id was sent, and the workspace has no organic partner",
      };
}

function refusedMethod(offer: Offer, sender: Sender): Refusal | undefined {
  if (sender.kind === "pixel") {
    return offer.conversion_method === "s2s"
      ? refused("offer does not accept pixel conversions")
      : undefined;
  }
  return offer.conversion_method === "pixel"
    ? refused("offer does not accept server-to-server conversions")
    : undefined;
}

/** Checks in force: the offer's own, else the workspace's (G101). */
export function fraudChecksOf({
  offer,
  workspace,
}: Pick<Target, "offer" | "workspace">): Workspace["fraud_checks"] {
  return offer.fraud_checks ?? workspace.fraud_checks;
}

/** The terms of the target's partner on its event. */
export function termsOf(catalog: Catalog, { offer, event, affiliate }: Target): Terms {
  return resolveTerms(
    offer,
    event,
    affiliate === undefined ? [] : catalog.overridesOf(offer.id, affiliate.id),
  );
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "refused";
}

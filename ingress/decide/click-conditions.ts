import type { Catalog } from "../../schemas/catalog/catalog.ts";
import { runFault } from "../../schemas/catalog/may-run.ts";
import type { Affiliate, Offer, TrafficControl, Workspace } from "../../schemas/catalog/records.ts";
import type { ParameterSet, SlotValues } from "../request/parameters.ts";
import { isUnseen, type Visit } from "../request/visit.ts";
import type { ClickState } from "./click-state.ts";
import { offerRules } from "./offer-rules.ts";
import { trafficControlOf } from "./traffic-control.ts";
import { contradictsForcedSource } from "./traffic-source.ts";

/** Why an offer refuses a click, or "" when it accepts the click. With `cap_over` the click still passes. */
export type Condition =
  | ""
  | "workspace_inactive"
  | "paused"
  | "not_approved"
  | "traffic_source"
  | "targeting"
  | "cap"
  | "cap_over"
  | "traffic_control"
  | "forwarded"
  | "duplicate";

/** Everything the conditions look at except the offer. */
export type Click = {
  readonly catalog: Catalog;
  readonly state: ClickState;
  readonly workspace: Workspace;
  readonly affiliate: Affiliate;
  readonly visit: Visit;
  readonly values: SlotValues;
  /** The query as sent, and which of its parameters have columns. */
  readonly query: string;
  readonly set: ParameterSet;
  readonly atMs: number;
  /** A forced traffic-source template applies to the partner links `/r` and `/click` only (G181). */
  readonly isPartnerLink: boolean;
};

export type Finding = {
  readonly condition: Condition;
  /** The offer to forward to; set only with `forwarded`. */
  readonly forwardTo?: Offer | undefined;
};

const NO_FINDING: Finding = { condition: "" };

/** Whether a click with this condition goes to the offer. Alerts of caps only mark a click. */
export function mayPass(condition: string): condition is "" | "cap_over" {
  return condition === "" || condition === "cap_over";
}

/** The first condition against the click, in the order of G143. */
export function judgeClick(click: Click, offer: Offer): Finding {
  const condition = conditionOfOffer(click, offer);
  if (!mayPass(condition)) return { condition };
  const control = controlOf(click, offer);
  if (control?.action === "block") return { condition: "traffic_control" };
  if (control !== undefined) return findForward(click, control.forward_offer_id);
  if (isDuplicate(click, offer)) return { condition: "duplicate" };
  return condition === "" ? NO_FINDING : { condition };
}

/**
 * Whether the click may go to this other offer instead: by the same conditions as if it had asked for that offer (G234). A control that would
 * forward it from there refuses it, because clicks are forwarded once.
 */
export function mayTake(click: Click, offer: Offer | undefined): offer is Offer {
  if (offer === undefined || offer.workspace_id !== click.workspace.id) return false;
  const condition = conditionOfOffer(click, offer);
  return mayPass(condition) && controlOf(click, offer) === undefined && !isDuplicate(click, offer);
}

/** The oldest control that applies. If it forwards to this very offer, the click has arrived, and no later control decides. */
function controlOf(click: Click, offer: Offer): TrafficControl | undefined {
  const control = trafficControlOf(click.catalog, click.workspace.id, {
    offerId: offer.id,
    affiliateId: click.affiliate.id,
    values: click.values,
    visit: click.visit,
  });
  const isHere = control?.action === "forward" && control.forward_offer_id === offer.id;
  return isHere ? undefined : control;
}

/** Records that a visitor was redirected. Later clicks of the visitor and of the offer are compared with this click. */
export function noteTaken(click: Click, offer: Offer | undefined, reason: string): void {
  // A duplicate does not extend the time in which the next click is a duplicate.
  if (offer === undefined || reason === "duplicate") return;
  const { state, workspace, affiliate, visit, atMs } = click;
  state.taken(offer, workspace.timezone, {
    affiliateId: affiliate.id,
    visitor: visit.visitor,
    atMs,
    isUnseen: isUnseen(visit),
  });
}

/** If the offer to which a control forwards refuses the click too, the control blocks the click. */
function findForward(click: Click, offerId: number | null): Finding {
  const forwardTo = offerId === null ? undefined : click.catalog.offers.get(offerId);
  return mayTake(click, forwardTo)
    ? { condition: "forwarded", forwardTo }
    : { condition: "traffic_control" };
}

function conditionOfOffer(click: Click, offer: Offer): Condition {
  const { catalog, workspace, affiliate, visit, values, atMs } = click;
  if (workspace.status !== "active") return "workspace_inactive";
  const fit = offerRules(offer).targeting?.judge(visit, atMs) ?? "fits";
  if (isPaused(catalog, offer) || fit === "closed") return "paused";
  if (!isApproved(catalog, offer, affiliate)) return "not_approved";
  if (click.isPartnerLink && contradictsForcedSource(catalog, affiliate.id, values)) {
    return "traffic_source";
  }
  if (fit === "misses") return "targeting";
  return click.state.capCondition(offer, workspace.timezone, atMs);
}

/** Whether the offer or its advertiser accepts no traffic. */
export function isPaused(catalog: Catalog, offer: Offer): boolean {
  if (offer.status !== "active") return true;
  return catalog.advertisers.get(offer.advertiser_id)?.status !== "active";
}

/** Whether the partner is active and may run the offer (G48, G189). */
export function isApproved(catalog: Catalog, offer: Offer, affiliate: Affiliate): boolean {
  if (affiliate.status !== "active") return false;
  return runFault(offer, catalog.accessOf(offer.id, affiliate.id)) === undefined;
}

function isDuplicate({ state, affiliate, visit, atMs }: Click, offer: Offer): boolean {
  const { visitor } = visit;
  return (
    offer.duplicate_click_seconds > 0 &&
    state.isDuplicate(offer, { affiliateId: affiliate.id, visitor, atMs })
  );
}

import type { Offer, SmartLink } from "../../schemas/catalog/records.ts";
import { type Click, judgeClick, mayPass } from "./click-conditions.ts";
import { smartLinkRules } from "./offer-rules.ts";

/** The offer that a smart link chose, or the reason why it chose none. */
export type Choice =
  | { readonly offer: Offer; readonly reason: "" | "cap_over" }
  | { readonly offer: undefined; readonly reason: string };

type Candidate = {
  readonly offer: Offer;
  readonly weight: number;
  readonly reason: "" | "cap_over";
};

/**
 * Chooses from the first rule that matches the click and has an eligible offer (G147): by weight, or in waterfall mode the first
 * eligible offer. `random` returns numbers from 0 up to but not including 1.
 */
export function chooseOffer(click: Click, link: SmartLink, random: () => number): Choice {
  if (click.workspace.status !== "active") {
    return { offer: undefined, reason: "workspace_inactive" };
  }
  if (link.status !== "active") return { offer: undefined, reason: "paused" };
  const conditions = smartLinkRules(link);
  let firstRefusal = "";
  for (const [i, rule] of link.rules.entries()) {
    const fit = conditions[i]?.judge(click.visit, click.atMs) ?? "fits";
    if (fit !== "fits") continue;
    const found = eligibleOffers(click, rule.offers, link.mode);
    const chosen = link.mode === "weighted" ? byWeight(found.eligible, random) : found.eligible[0];
    if (chosen !== undefined) return { offer: chosen.offer, reason: chosen.reason };
    firstRefusal ||= found.firstRefusal;
  }
  // A waterfall records why its first offer refused the click.
  const reason = link.mode === "waterfall" && firstRefusal !== "" ? firstRefusal : "no_match";
  return { offer: undefined, reason };
}

/** An offer is not eligible when a traffic control would forward its click: the smart link has other offers. */
function eligibleOffers(
  click: Click,
  offers: SmartLink["rules"][number]["offers"],
  mode: SmartLink["mode"],
): { eligible: readonly Candidate[]; firstRefusal: string } {
  const eligible: Candidate[] = [];
  let firstRefusal = "";
  for (const { offer_id, weight } of offers) {
    const offer = click.catalog.offers.get(offer_id);
    if (offer === undefined || offer.workspace_id !== click.workspace.id) continue;
    const { condition } = judgeClick(click, offer);
    if (mayPass(condition)) {
      eligible.push({ offer, weight, reason: condition });
      if (mode === "waterfall") break;
    } else {
      firstRefusal ||= condition === "forwarded" ? "traffic_control" : condition;
    }
  }
  return { eligible, firstRefusal };
}

/** Offers of weight 0 are chosen only when there are no others, and then evenly. */
function byWeight(candidates: readonly Candidate[], random: () => number): Candidate | undefined {
  const total = candidates.reduce((sum, candidate) => sum + candidate.weight, 0);
  if (total === 0) return candidates[Math.floor(random() * candidates.length)];
  let left = random() * total;
  for (const candidate of candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate;
  }
  return candidates.findLast((candidate) => candidate.weight > 0);
}

import { type Conditions, isTargeted, type Judged, passes } from "./conditions.ts";
import type { PlannedVisit } from "./plan.ts";
import { offerOf, type World, type WorldOffer, type WorldSmartLink } from "./world.ts";

/** A possible outcome of a click. `location` still contains the macros of the replay's URLs. */
export type Outcome = {
  readonly status: "redirect" | "fallback" | "blocked";
  readonly reason: string;
  readonly offerId: number;
  readonly location: string;
  /** The probability of this offer in a weighted choice, 0 to 1, if all facts about the choice are known. */
  readonly chance?: number;
};

/** Every right outcome for a click of this visit: usually one; for a weighted smart link one for each eligible offer. */
export class Outcomes {
  readonly #world: World;
  readonly #conditions: Conditions;

  constructor(world: World, conditions: Conditions) {
    this.#world = world;
    this.#conditions = conditions;
  }

  of({ target }: PlannedVisit, judged: Judged): Outcome[] {
    if (target.kind === "smart") return this.#ofSmartLink(target.link, judged);
    if (target.kind !== "link") return [];
    const { offer, form, url } = target;
    if (url !== undefined && url.refusal !== "") {
      return [{ status: "blocked", reason: url.refusal, offerId: offer.id, location: "" }];
    }
    const outcomes = this.#conditions.of(offer, judged).flatMap((finding): Outcome[] => {
      const { condition, forwardTo } = finding;
      const isPassed = passes(condition);
      if (url !== undefined) {
        return [{ status: "redirect", reason: condition, offerId: offer.id, location: url.text }];
      }
      if (form === "server") {
        const reason = condition === "forwarded" ? "traffic_control" : condition;
        const status = isPassed ? "redirect" : "fallback";
        return [{ status, reason, offerId: offer.id, location: "" }];
      }
      if (forwardTo !== undefined) return [redirectTo(forwardTo, condition)];
      return isPassed ? [redirectTo(offer, condition)] : this.#refused(offer, condition, judged);
    });
    return unique(outcomes);
  }

  /** To the fail route if it accepts the click, else to a fallback. */
  #refused(offer: WorldOffer, reason: string, judged: Judged): Outcome[] {
    const fallback = this.#fallback(offer.fallback_url, reason, offer.id);
    const { failRouteId } = offer.rules;
    if (failRouteId === undefined) return [fallback];
    const instead = offerOf(this.#world, failRouteId);
    return this.#conditions
      .mayTake(instead, judged)
      .map((takes) => (takes ? redirectTo(instead, "fail_route") : fallback));
  }

  #fallback(ownUrl: string, reason: string, offerId: number): Outcome {
    const location = ownUrl === "" ? this.#world.fallbackUrl : ownUrl;
    return { status: "fallback", reason, offerId, location };
  }

  #ofSmartLink(link: WorldSmartLink, judged: Judged): Outcome[] {
    const refused = (reason: string): Outcome => this.#fallback("", reason, 0);
    if (link.isPaused) return [refused("paused")];
    const rules = link.rules.filter(({ conditions }) => isTargeted(conditions, judged.visitor));
    if (link.mode === "weighted") {
      return unique(this.#weighted(rules, judged) ?? [refused("no_match")]);
    }
    const candidates = rules.flatMap(({ offers }) =>
      offers.map(({ id }) => offerOf(this.#world, id)),
    );
    return unique(this.#firstOf(candidates, "", judged, refused));
  }

  /** The first rule with an eligible offer decides; undefined if there is none. */
  #weighted(rules: WorldSmartLink["rules"], judged: Judged): Outcome[] | undefined {
    const [rule, ...rest] = rules;
    if (rule === undefined) return undefined;
    const candidates = rule.offers.map(({ id, weight }) => {
      const offer = offerOf(this.#world, id);
      const findings = this.#conditions.of(offer, judged).map(({ condition }) => condition);
      const passing = findings.filter(passes);
      const isSure = passing.length === findings.length;
      return { offer, weight, passing, isSure };
    });
    const isHeavySure = candidates.some(({ weight, isSure }) => weight > 0 && isSure);
    // An offer with weight 0 is chosen only if no other is eligible.
    const possible = candidates.filter(
      ({ weight, passing }) => passing.length > 0 && (weight > 0 || !isHeavySure),
    );
    const total = possible.reduce((sum, { weight }) => sum + weight, 0);
    const isKnown = possible.every(({ isSure, passing }) => isSure && passing.length === 1);
    const outcomes = possible.flatMap(({ offer, weight, passing }) =>
      passing.map((condition) => ({
        ...redirectTo(offer, condition),
        ...(isKnown ? { chance: total === 0 ? 1 / possible.length : weight / total } : {}),
      })),
    );
    if (candidates.some(({ isSure }) => isSure)) return outcomes;
    const later = this.#weighted(rest, judged);
    return outcomes.length === 0 ? later : [...outcomes, ...(later ?? [])];
  }

  /** The first eligible offer. If none is eligible, the fallback has the reason of the first one tried. */
  #firstOf(
    candidates: readonly WorldOffer[],
    firstReason: string,
    judged: Judged,
    refused: (reason: string) => Outcome,
  ): Outcome[] {
    const [offer, ...rest] = candidates;
    if (offer === undefined) return [refused(firstReason === "" ? "no_match" : firstReason)];
    return this.#conditions.of(offer, judged).flatMap(({ condition }) => {
      if (passes(condition)) return [redirectTo(offer, condition)];
      // A smart link never forwards: it tries its other offers.
      const reason = condition === "forwarded" ? "traffic_control" : condition;
      return this.#firstOf(rest, firstReason === "" ? reason : firstReason, judged, refused);
    });
  }
}

function redirectTo(offer: WorldOffer, reason: string): Outcome {
  return { status: "redirect", reason, offerId: offer.id, location: offer.destination_url };
}

function unique(outcomes: readonly Outcome[]): Outcome[] {
  return [...new Map(outcomes.map((outcome) => [JSON.stringify(outcome), outcome])).values()];
}

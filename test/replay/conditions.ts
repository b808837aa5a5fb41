import type { Visitor } from "./expectation.ts";
import type { ReachedConversionCaps } from "./recounted-caps.ts";
import type { Click, TakenClicks, Verdict } from "./taken-clicks.ts";
import { oneIsTrue } from "./taken-clicks.ts";
import {
  offerOf,
  type Targeting,
  type World,
  type WorldControl,
  type WorldOffer,
} from "./world.ts";

/** The facts about a click that the rules use. */
export type Judged = {
  readonly click: Click;
  readonly visitor: Visitor;
  readonly partnerId: number;
  readonly sub4: string;
};

/** A condition that may be right for a click. `forwardTo` is set only for `forwarded`. */
export type Finding = { readonly condition: string; readonly forwardTo?: WorldOffer };

export type History = {
  readonly taken: TakenClicks;
  readonly conversionCaps: ReachedConversionCaps;
};

/**
 * The conditions of a click in the order of G143, implemented a second time. Returns every condition that may be right: one if the
 * contract is exact, several if the order of two events is unknown or a process need not know of them yet.
 */
export class Conditions {
  readonly #world: World;
  readonly #history: History;

  constructor(world: World, history: History) {
    this.#world = world;
    this.#history = history;
  }

  /** The conditions of a click on a link of this offer. */
  of(offer: WorldOffer, judged: Judged): Finding[] {
    return this.#ofOffer(offer, judged).flatMap((condition): Finding[] => {
      if (!passes(condition)) return [{ condition }];
      const control = this.#controlOf(offer, judged);
      if (control !== undefined) return this.#controlled(control, judged);
      return byVerdict(this.#history.taken.isDuplicate(offer, judged.click), {
        yes: { condition: "duplicate" },
        no: { condition },
      });
    });
  }

  /** Whether the offer accepts a click of another offer, by the same conditions; it is not forwarded from there (G234). */
  mayTake(offer: WorldOffer, judged: Judged): boolean[] {
    if (this.#controlOf(offer, judged) !== undefined) return [false];
    const answers = this.#ofOffer(offer, judged).flatMap((condition) => {
      if (!passes(condition)) return [false];
      const verdict = this.#history.taken.isDuplicate(offer, judged.click);
      return byVerdict(verdict, { yes: false, no: true });
    });
    return [...new Set(answers)];
  }

  /** The oldest control that applies; none if it forwards to this very offer. */
  #controlOf(offer: WorldOffer, judged: Judged): WorldControl | undefined {
    const control = this.#world.controls.find((one) => fallsUnder(one, offer, judged));
    return control?.forwardToId === offer.id ? undefined : control;
  }

  #controlled({ forwardToId }: WorldControl, judged: Judged): Finding[] {
    if (forwardToId === undefined) return [{ condition: "traffic_control" }];
    const forwardTo = offerOf(this.#world, forwardToId);
    return this.mayTake(forwardTo, judged).map((takes) =>
      takes ? { condition: "forwarded", forwardTo } : { condition: "traffic_control" },
    );
  }

  #ofOffer(offer: WorldOffer, { click, visitor, partnerId }: Judged): string[] {
    const { isClosed, approvedIds, targeting, caps } = offer.rules;
    if (isClosed === true) return ["paused"];
    if (approvedIds !== undefined && !approvedIds.includes(partnerId)) return ["not_approved"];
    if (targeting !== undefined && !isTargeted(targeting, visitor)) return ["targeting"];
    const { taken, conversionCaps } = this.#history;
    const verdict = oneIsTrue([
      taken.isCapReached(offer, click),
      conversionCaps.isReached(offer, click.atMs),
    ]);
    return byVerdict(verdict, { yes: caps?.alert_only === true ? "cap_over" : "cap", no: "" });
  }
}

export function passes(condition: string): boolean {
  return condition === "" || condition === "cap_over";
}

export function isTargeted(targeting: Targeting, visitor: Visitor): boolean {
  const { country, deviceType, os, browser } = visitor;
  const allows = [
    [targeting.countries_allow, country],
    [targeting.devices_allow, deviceType],
    [targeting.os_allow, os],
    [targeting.browsers_allow, browser],
  ] as const;
  const denies = [
    [targeting.countries_deny, country],
    [targeting.devices_deny, deviceType],
    [targeting.os_deny, os],
    [targeting.browsers_deny, browser],
  ] as const;
  return (
    allows.every(([words, word]) => words === undefined || isOneOf(word, words)) &&
    denies.every(([words, word]) => words === undefined || !isOneOf(word, words))
  );
}

/** Ignores case and spaces. An unknown value is in no list. */
function isOneOf(word: string, words: readonly string[]): boolean {
  const plain = (text: string): string => text.toLowerCase().replaceAll(" ", "");
  return word !== "" && words.some((one) => plain(one) === plain(word));
}

function fallsUnder(
  control: WorldControl,
  offer: WorldOffer,
  { visitor, sub4 }: Pick<Judged, "visitor" | "sub4">,
): boolean {
  const { offerIds, countries, userAgentContains, network } = control;
  const agent = visitor.userAgent.toLowerCase();
  return (
    offerIds.includes(offer.id) &&
    (countries === undefined || countries.includes(visitor.country)) &&
    (userAgentContains === undefined ||
      userAgentContains.some((part) => agent.includes(part.toLowerCase()))) &&
    (network === undefined || visitor.ip.startsWith(`${network}.`)) &&
    (control.sub4 === undefined || control.sub4 === sub4)
  );
}

function byVerdict<T>(verdict: Verdict, { yes, no }: { yes: T; no: T }): T[] {
  if (verdict === "either") return [yes, no];
  return [verdict === "yes" ? yes : no];
}

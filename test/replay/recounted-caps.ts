import { dayOf, oneIsTrue, type Verdict } from "./taken-clicks.ts";
import type { WorldOffer } from "./world.ts";

/** A counted conversion of a capped offer, and when its report was sent and answered: UTC ms. */
export type CountedConversion = {
  readonly offerId: number;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
};

/**
 * Conversion caps as clicks see them. A cap is reached, at the earliest, when as many reports were sent as it has room for. Every
 * process knows it `knownAfterMs` after the answer to the report that filled it.
 */
export class ReachedConversionCaps {
  readonly #conversions: readonly CountedConversion[];
  readonly #knownAfterMs: number;

  constructor(conversions: readonly CountedConversion[], knownAfterMs: number) {
    this.#conversions = conversions;
    this.#knownAfterMs = knownAfterMs;
  }

  isReached(offer: WorldOffer, atMs: number): Verdict {
    const { daily, total } = offer.rules.caps?.conversions ?? {};
    const all = this.#conversions.filter(({ offerId }) => offerId === offer.id);
    const today = all.filter(({ answeredAtMs }) => dayOf(answeredAtMs) === dayOf(atMs));
    return oneIsTrue([this.#reached(all, total, atMs), this.#reached(today, daily, atMs)]);
  }

  #reached(
    counted: readonly CountedConversion[],
    limit: number | undefined,
    atMs: number,
  ): Verdict {
    if (limit === undefined) return "no";
    const sent = counted.map(({ sentAtMs }) => sentAtMs).sort((a, b) => a - b);
    const answered = counted.map(({ answeredAtMs }) => answeredAtMs).sort((a, b) => a - b);
    const [filling, filled] = [sent[limit - 1], answered[limit - 1]];
    if (filling === undefined || filled === undefined || atMs < filling) return "no";
    return atMs > filled + this.#knownAfterMs ? "yes" : "either";
  }
}

import { dayOf, oneIsTrue, type Verdict } from "./taken-clicks.ts";
import type { WorldOffer } from "./world.ts";

/** A conversion of a capped offer that was counted, and when its report was under way: UTC ms. */
export type CountedConversion = {
  readonly offerId: number;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
};

/**
 * Conversion caps as clicks see them: reached at the earliest when as many reports had been sent as the cap has room for, and
 * known everywhere `heardAfterMs` after the answer to the one that filled it.
 */
export class ReachedConversionCaps {
  readonly #conversions: readonly CountedConversion[];
  readonly #heardAfterMs: number;

  constructor(conversions: readonly CountedConversion[], heardAfterMs: number) {
    this.#conversions = conversions;
    this.#heardAfterMs = heardAfterMs;
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
    return atMs > filled + this.#heardAfterMs ? "yes" : "either";
  }
}

import type { Tally } from "./tally.ts";

/** An entry has 12 bits for the class of its offer. */
export const CLASSES = 4_096;

/**
 * Numbers for the offers of a lane, so that an entry needs 12 bits for its offer. Offers get the next free number in the order in which
 * they are seen. Beyond 4,096 offers, a new one shares the number that has the fewest visits: the offers of a number then count as one
 * when visits must be forgotten.
 */
export class OfferClasses {
  readonly #tally: Tally;
  readonly #classes = new Map<number, number>();
  readonly #offers = new Uint32Array(CLASSES);
  #last = { offerId: Number.NaN, offerClass: 0 };

  constructor(tally: Tally) {
    this.#tally = tally;
  }

  classOf(offerId: number): number {
    if (offerId === this.#last.offerId) return this.#last.offerClass;
    let offerClass = this.#classes.get(offerId);
    if (offerClass === undefined) {
      const { size } = this.#classes;
      offerClass = size < CLASSES ? size : this.#smallest();
      this.#classes.set(offerId, offerClass);
      this.#offers[offerClass] = offerId;
    }
    this.#last = { offerId, offerClass };
    return offerClass;
  }

  /** The offer that got this number last. */
  offerOf(offerClass: number): number {
    return this.#offers[offerClass] ?? 0;
  }

  #smallest(): number {
    const { ofClass } = this.#tally;
    let smallest = 0;
    for (let offerClass = 1; offerClass < CLASSES; offerClass += 1)
      if ((ofClass[offerClass] ?? 0) < (ofClass[smallest] ?? 0)) smallest = offerClass;
    return smallest;
  }
}

import type { OfferAccess } from "./records.ts";

/** What a partner may do with an offer, without the pair that it is about. */
export type AccessState = Readonly<Pick<OfferAccess, "status" | "terms_accepted">>;

const EMPTY = 0;
/** A place that was taken: a search goes on behind it. */
const REMOVED = 1;
const FIRST_STATE = 2;
const STATUSES = [
  "approved",
  "pending",
  "rejected",
] as const satisfies readonly OfferAccess["status"][];
/** By the number that stands for them, from FIRST_STATE up. */
const STATES: readonly AccessState[] = STATUSES.flatMap((status) => [
  Object.freeze({ status, terms_accepted: false }),
  Object.freeze({ status, terms_accepted: true }),
]);
const PLACES_MIN = 1_024;
/** Share of the places that may be taken: with more of them searches grow long. */
const TAKEN_MAX = 0.7;

/**
 * Access records by offer and partner. There are more of them than of all other records together: as objects in a Map half a
 * million take 60 MB, here 9 bytes a place and at most 3 places a record. Open addressing, the next free place on a collision.
 */
export class AccessTable {
  #offers = new Uint32Array(PLACES_MIN);
  #affiliates = new Uint32Array(PLACES_MIN);
  #states = new Uint8Array(PLACES_MIN);
  /** Places that are not EMPTY. */
  #taken = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(offerId: number, affiliateId: number): AccessState | undefined {
    const state = this.#states[this.#find(offerId, affiliateId)] ?? EMPTY;
    return STATES[state - FIRST_STATE];
  }

  set({ offer_id, affiliate_id, status, terms_accepted }: OfferAccess): void {
    const state = FIRST_STATE + 2 * STATUSES.indexOf(status) + (terms_accepted ? 1 : 0);
    const place = this.#find(offer_id, affiliate_id);
    if (this.#states[place] !== EMPTY) {
      this.#states[place] = state;
      return;
    }
    this.#put(place, { offer_id, affiliate_id, state });
    if (this.#taken > this.#states.length * TAKEN_MAX) this.#rebuild();
  }

  delete(offerId: number, affiliateId: number): void {
    const place = this.#find(offerId, affiliateId);
    if (this.#states[place] === EMPTY) return;
    this.#states[place] = REMOVED;
    this.#size -= 1;
  }

  *all(): Generator<OfferAccess> {
    const [offers, affiliates, states] = [this.#offers, this.#affiliates, this.#states];
    for (let place = 0; place < states.length; place += 1) {
      const state = STATES[(states[place] ?? EMPTY) - FIRST_STATE];
      if (state === undefined) continue;
      yield { offer_id: offers[place] ?? 0, affiliate_id: affiliates[place] ?? 0, ...state };
    }
  }

  /** The place of the pair, else the empty one at which the search for it ends. */
  #find(offerId: number, affiliateId: number): number {
    const last = this.#states.length - 1;
    let place = mixed(offerId, affiliateId) & last;
    for (;;) {
      const state = this.#states[place];
      if (state === EMPTY) return place;
      const isPair =
        state !== REMOVED &&
        this.#offers[place] === offerId &&
        this.#affiliates[place] === affiliateId;
      if (isPair) return place;
      place = (place + 1) & last;
    }
  }

  #put(place: number, pair: { offer_id: number; affiliate_id: number; state: number }): void {
    this.#offers[place] = pair.offer_id;
    this.#affiliates[place] = pair.affiliate_id;
    this.#states[place] = pair.state;
    this.#taken += 1;
    this.#size += 1;
  }

  /** Into twice the places that its records need, without those that were removed. */
  #rebuild(): void {
    const [offers, affiliates, states] = [this.#offers, this.#affiliates, this.#states];
    let places = PLACES_MIN;
    while (this.#size * 2 > places) places *= 2;
    this.#offers = new Uint32Array(places);
    this.#affiliates = new Uint32Array(places);
    this.#states = new Uint8Array(places);
    this.#taken = 0;
    this.#size = 0;
    for (let old = 0; old < states.length; old += 1) {
      const state = states[old] ?? EMPTY;
      if (state < FIRST_STATE) continue;
      const pair = { offer_id: offers[old] ?? 0, affiliate_id: affiliates[old] ?? 0, state };
      this.#put(this.#find(pair.offer_id, pair.affiliate_id), pair);
    }
  }
}

/** Ids of neighbours are neighbours: multiplied and folded, they lie apart. */
function mixed(offerId: number, affiliateId: number): number {
  let hash = Math.imul(offerId, 0x9e37_79b1) ^ Math.imul(affiliateId, 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2_ae35);
  return hash ^ (hash >>> 13);
}

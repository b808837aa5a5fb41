import type { OfferAccess } from "./records.ts";

/** A partner's access to an offer, without the two ids. */
export type AccessState = Readonly<Pick<OfferAccess, "status" | "terms_accepted">>;

const EMPTY = 0;
/** A slot whose record was deleted. A search continues past it. */
const REMOVED = 1;
const FIRST_STATE = 2;
const STATUSES = [
  "approved",
  "pending",
  "rejected",
] as const satisfies readonly OfferAccess["status"][];
/** The state with number FIRST_STATE + n is at index n. */
const STATES: readonly AccessState[] = STATUSES.flatMap((status) => [
  Object.freeze({ status, terms_accepted: false }),
  Object.freeze({ status, terms_accepted: true }),
]);
const SLOTS_MIN = 1_024;
/** Above this share of used slots, searches become slow and the table is rebuilt. */
const USED_MAX = 0.7;

/**
 * Access records by offer and partner. There are more of them than of all other records together. Half a million would take 60 MB as
 * objects in a Map; here a slot takes 9 bytes, and a record 1.4 to 3 slots while few are deleted. Open addressing with linear probing.
 */
export class AccessTable {
  #offers = new Uint32Array(SLOTS_MIN);
  #affiliates = new Uint32Array(SLOTS_MIN);
  #states = new Uint8Array(SLOTS_MIN);
  /** Slots that are not EMPTY. */
  #used = 0;
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
    const slot = this.#find(offer_id, affiliate_id);
    if (this.#states[slot] !== EMPTY) {
      this.#states[slot] = state;
      return;
    }
    this.#put(slot, { offer_id, affiliate_id, state });
    if (this.#used > this.#states.length * USED_MAX) this.#rebuild();
  }

  delete(offerId: number, affiliateId: number): void {
    const slot = this.#find(offerId, affiliateId);
    if (this.#states[slot] === EMPTY) return;
    this.#states[slot] = REMOVED;
    this.#size -= 1;
  }

  *all(): Generator<OfferAccess> {
    const [offers, affiliates, states] = [this.#offers, this.#affiliates, this.#states];
    for (let slot = 0; slot < states.length; slot += 1) {
      const state = STATES[(states[slot] ?? EMPTY) - FIRST_STATE];
      if (state === undefined) continue;
      yield { offer_id: offers[slot] ?? 0, affiliate_id: affiliates[slot] ?? 0, ...state };
    }
  }

  /** The slot of the pair, or the empty slot where the search for it ends. */
  #find(offerId: number, affiliateId: number): number {
    const last = this.#states.length - 1;
    let slot = hashOf(offerId, affiliateId) & last;
    for (;;) {
      const state = this.#states[slot];
      if (state === EMPTY) return slot;
      const isPair =
        state !== REMOVED &&
        this.#offers[slot] === offerId &&
        this.#affiliates[slot] === affiliateId;
      if (isPair) return slot;
      slot = (slot + 1) & last;
    }
  }

  #put(slot: number, pair: { offer_id: number; affiliate_id: number; state: number }): void {
    this.#offers[slot] = pair.offer_id;
    this.#affiliates[slot] = pair.affiliate_id;
    this.#states[slot] = pair.state;
    this.#used += 1;
    this.#size += 1;
  }

  /** Copies the records, without deleted slots, into a table with at least twice as many slots as records. */
  #rebuild(): void {
    const [offers, affiliates, states] = [this.#offers, this.#affiliates, this.#states];
    let slots = SLOTS_MIN;
    while (this.#size * 2 > slots) slots *= 2;
    this.#offers = new Uint32Array(slots);
    this.#affiliates = new Uint32Array(slots);
    this.#states = new Uint8Array(slots);
    this.#used = 0;
    this.#size = 0;
    for (let old = 0; old < states.length; old += 1) {
      const state = states[old] ?? EMPTY;
      if (state < FIRST_STATE) continue;
      const pair = { offer_id: offers[old] ?? 0, affiliate_id: affiliates[old] ?? 0, state };
      this.#put(this.#find(pair.offer_id, pair.affiliate_id), pair);
    }
  }
}

/** A hash of the pair. Ids are consecutive numbers, so they must be spread over the table. */
function hashOf(offerId: number, affiliateId: number): number {
  let hash = Math.imul(offerId, 0x9e37_79b1) ^ Math.imul(affiliateId, 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2_ae35);
  return hash ^ (hash >>> 13);
}

import type { Clocks } from "../intake/present-time.ts";

/** Who clicked on which offer: the three numbers of G87. */
export type Visit = {
  readonly offerId: number;
  readonly affiliateId: number;
  /** Keyed hash of at most 52 bits. */
  readonly visitor: number;
};

const SLOTS_MIN = 1_024;
/** Below this share of used slots, linear probing stays short. */
export const LOAD_MAX = 0.6;
/** Share of used slots after a clean-up; low, so that the next one is far away. */
export const LOAD_AFTER = 0.3;
/** Share of `entriesMax` that stays after visits had to be forgotten. */
const KEPT_SHARE = 0.75;
export const SLOT_BYTES = 20;
const OLDEST_CHECK_MS = 30_000;

/** Visits that were forgotten within their window: their visitors may count as unique, and be paid for, again. */
export type ForgottenVisits = {
  readonly visits: number;
  /** The offer with the most visits, which lost the most. */
  readonly offerId: number;
  /** UTC ms: its earlier visits are forgotten. */
  readonly knownFromMs: number;
};

export type UniqueClicksOptions = {
  readonly entriesMax: number;
  readonly retentionMs: number;
  readonly onForgotten?: (forgotten: ForgottenVisits) => void;
};

/** The entries of an offer to drop: all before a time, and `ties` of exactly that time. */
type Cut = { readonly beforeMs: number; ties: number };

/**
 * The time of each visitor's last unique click on an offer of a partner (G87). One open-addressing table with 20 bytes per slot: a 64-bit
 * fingerprint of the three numbers, a time and the offer. With a million visits, two share a fingerprint with a probability of 1 in 37
 * million.
 *
 * No time in it is later than the newest clock was when the entry was made. If that clock goes back, a later time counts as the present
 * time until the owner reads the visits from the table again (`unique-window.ts`).
 *
 * Bounded: above `entriesMax` the oldest visits of the largest offers are forgotten, until a quarter of `entriesMax` is free. So a
 * flood on one offer does not remove visits of other offers.
 */
export class UniqueClicks {
  readonly entriesMax: number;
  #low: Uint32Array;
  #high: Uint32Array;
  #atMs: Float64Array;
  #offerId: Uint32Array;
  #size = 0;
  #latestMs = 0;
  #print = { low: 0, high: 0, offerId: 0 };
  /** Visits forgotten within their window since the start. */
  forgotten = 0;
  /** Entries older by this than both the newest entry and this process's clock are dropped at the next clean-up. */
  retentionMs: number;
  /** The owner must set it with each message. By default no clock bounds a time. */
  clocks: Clocks = { ownMs: Number.POSITIVE_INFINITY, newestMs: Number.POSITIVE_INFINITY };
  readonly #onForgotten: ((forgotten: ForgottenVisits) => void) | undefined;
  #oldest = { ms: 0, checkedAtMs: Number.NEGATIVE_INFINITY };

  constructor(options: UniqueClicksOptions) {
    this.entriesMax = options.entriesMax;
    this.retentionMs = options.retentionMs;
    this.#onForgotten = options.onForgotten;
    this.#low = new Uint32Array(SLOTS_MIN);
    this.#high = new Uint32Array(SLOTS_MIN);
    this.#atMs = new Float64Array(SLOTS_MIN);
    this.#offerId = new Uint32Array(SLOTS_MIN);
  }

  get size(): number {
    return this.#size;
  }

  /** The latest time of a visit, UTC ms; 0 if there is none. */
  get latestMs(): number {
    return this.#latestMs;
  }

  get bytes(): number {
    return this.#low.length * SLOT_BYTES;
  }

  /** Time of the oldest visit in memory, UTC ms; undefined if there is none. The value is cached for 30 s. */
  get oldestMs(): number | undefined {
    if (performance.now() - this.#oldest.checkedAtMs > OLDEST_CHECK_MS) {
      let ms = Number.POSITIVE_INFINITY;
      for (const time of this.#atMs) if (time !== 0 && time < ms) ms = time;
      this.#oldest = { ms, checkedAtMs: performance.now() };
    }
    return Number.isFinite(this.#oldest.ms) ? this.#oldest.ms : undefined;
  }

  /** Whether this visit is unique; if so, it is remembered. Must be called in the order of the stream. */
  take(visit: Visit, atMs: number, windowMs: number): boolean {
    const clickMs = Math.min(atMs, this.clocks.newestMs);
    let slot = this.#slotOf(visit);
    let lastMs = this.#lastMs(slot);
    if (lastMs - clickMs >= windowMs) {
      // This click is much older than the remembered one: it comes from the journal of a producer that was cut off. Such clicks have a
      // second entry, under the complement of the partner's ID, which no partner has.
      slot = this.#slotOf({ ...visit, affiliateId: ~visit.affiliateId });
      lastMs = this.#lastMs(slot);
      // Older than the second entry too: it is not known whether it is unique, so it is not paid.
      if (lastMs - clickMs >= windowMs) return false;
    }
    if (lastMs !== 0 && Math.abs(clickMs - lastMs) < windowMs) return false;
    this.#put(slot, clickMs);
    return true;
  }

  /** Adds a unique click that is already stored. */
  remember(visit: Visit, atMs: number): void {
    const slot = this.#slotOf(visit);
    this.#put(slot, Math.max(Math.min(atMs, this.clocks.newestMs), this.#lastMs(slot)));
  }

  /** 0 for a free slot. */
  #lastMs(slot: number): number {
    return Math.min(this.#atMs[slot] ?? 0, this.clocks.newestMs);
  }

  /** The slot of a visit, or the free slot where it belongs. Leaves its fingerprint in `#print`. */
  #slotOf(visit: Visit): number {
    let low = mix(visit.offerId, visit.affiliateId, visit.visitor, 0x9e37_79b1);
    const high = mix(
      visit.visitor / 0x1_0000_0000,
      visit.affiliateId,
      visit.offerId ^ low,
      0x85eb_ca77,
    );
    // Two zeros would mean a free slot.
    if (low === 0 && high === 0) low = 1;
    this.#print.low = low;
    this.#print.high = high;
    this.#print.offerId = visit.offerId;
    return this.#probe(low, high);
  }

  #probe(low: number, high: number): number {
    const mask = this.#low.length - 1;
    let slot = (low ^ (high >>> 7)) & mask;
    while (this.#atMs[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #put(slot: number, atMs: number): void {
    if (this.#atMs[slot] === 0) this.#size += 1;
    this.#low[slot] = this.#print.low;
    this.#high[slot] = this.#print.high;
    this.#offerId[slot] = this.#print.offerId;
    this.#atMs[slot] = atMs;
    this.#latestMs = Math.max(this.#latestMs, atMs);
    if (this.#size > Math.min(this.entriesMax, this.#low.length * LOAD_MAX)) this.#cleanUp();
  }

  /** Drops expired entries, and resizes the table for the rest. */
  #cleanUp(): void {
    // A single producer whose clock is ahead must not make the visits of all others look old.
    const oldestMs = Math.min(this.#latestMs, this.clocks.ownMs) - this.retentionMs;
    let kept = countFrom(this.#atMs, oldestMs);
    const cuts = kept > this.entriesMax ? this.#cutLargest(oldestMs) : new Map<number, Cut>();
    if (cuts.size > 0) kept = Math.floor(this.entriesMax * KEPT_SHARE);
    let slots = SLOTS_MIN;
    while (kept > slots * LOAD_AFTER) slots *= 2;
    this.#rebuild(slots, (offer, time) => time >= oldestMs && !isCut(cuts.get(offer), time));
  }

  #rebuild(slots: number, isKept: (offer: number, time: number) => boolean): void {
    const [low, high, atMs, offerId] = [this.#low, this.#high, this.#atMs, this.#offerId];
    this.#low = new Uint32Array(slots);
    this.#high = new Uint32Array(slots);
    this.#atMs = new Float64Array(slots);
    this.#offerId = new Uint32Array(slots);
    this.#size = 0;
    for (const [index, time] of atMs.entries()) {
      const offer = offerId[index] ?? 0;
      if (time === 0 || !isKept(offer, time)) continue;
      const slot = this.#probe(low[index] ?? 0, high[index] ?? 0);
      this.#low[slot] = low[index] ?? 0;
      this.#high[slot] = high[index] ?? 0;
      this.#offerId[slot] = offer;
      this.#atMs[slot] = time;
      this.#size += 1;
    }
  }

  /**
   * Finds the highest number of visits per offer at which the table is small enough, and cuts every larger offer to it. Smaller offers
   * keep all.
   */
  #cutLargest(oldestMs: number): Map<number, Cut> {
    const counts = new Map<number, number>();
    for (const [index, time] of this.#atMs.entries()) {
      const offer = this.#offerId[index] ?? 0;
      if (time !== 0 && time >= oldestMs) counts.set(offer, (counts.get(offer) ?? 0) + 1);
    }
    const level = levelOf([...counts.values()], Math.floor(this.entriesMax * KEPT_SHARE));
    const largest = [...counts].filter(([, count]) => count > level).sort(([, a], [, b]) => b - a);
    const times = this.#timesOf(new Map(largest), oldestMs);
    const cuts = new Map<number, Cut>();
    let visits = 0;
    for (const [offer, count] of largest) {
      cuts.set(offer, cutOf(times.get(offer), count - level));
      visits += count - level;
    }
    this.forgotten += visits;
    const offerId = largest[0]?.[0] ?? 0;
    this.#onForgotten?.({ visits, offerId, knownFromMs: cuts.get(offerId)?.beforeMs ?? 0 });
    return cuts;
  }

  /** The times of the visits of these offers, ascending. `counts` has their numbers. One pass over the table, however many offers. */
  #timesOf(counts: ReadonlyMap<number, number>, oldestMs: number): Map<number, Float64Array> {
    const times = new Map([...counts].map(([offer, count]) => [offer, new Float64Array(count)]));
    const filled = new Map([...counts.keys()].map((offer) => [offer, 0]));
    for (const [index, time] of this.#atMs.entries()) {
      const offer = this.#offerId[index] ?? 0;
      const at = time !== 0 && time >= oldestMs ? filled.get(offer) : undefined;
      const own = times.get(offer);
      if (at === undefined || own === undefined) continue;
      own[at] = time;
      filled.set(offer, at + 1);
    }
    for (const own of times.values()) own.sort();
    return times;
  }
}

/** The cut that drops the oldest `visits` of an offer with these times. */
function cutOf(times: Float64Array | undefined, visits: number): Cut {
  const beforeMs = times?.[visits] ?? Number.POSITIVE_INFINITY;
  return { beforeMs, ties: visits - (times?.indexOf(beforeMs) ?? 0) };
}

/** Counts the ties down, so call it exactly once for each entry. */
function isCut(cut: Cut | undefined, time: number): boolean {
  if (cut === undefined || time > cut.beforeMs) return false;
  if (time < cut.beforeMs) return true;
  cut.ties -= 1;
  return cut.ties >= 0;
}

/** The highest level for which the counts, each limited to it, add up to at most `total`. */
function levelOf(counts: readonly number[], total: number): number {
  let left = total;
  const rising = counts.toSorted((a, b) => a - b);
  for (const [index, count] of rising.entries()) {
    const level = Math.floor(left / (rising.length - index));
    if (count > level) return level;
    left -= count;
  }
  return Number.POSITIVE_INFINITY;
}

function countFrom(times: Float64Array, fromMs: number): number {
  let count = 0;
  for (const time of times) if (time !== 0 && time >= fromMs) count += 1;
  return count;
}

/** 32 bits that depend on every bit of the low 32 bits of the three numbers. */
function mix(a: number, b: number, c: number, seed: number): number {
  let bits = seed;
  for (const word of [a, b, c]) {
    bits = Math.imul(bits ^ (word >>> 0), 0xcc9e_2d51);
    bits = Math.imul((bits ^ (bits >>> 15)) >>> 0, 0x1b87_3593);
    bits ^= bits >>> 13;
  }
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

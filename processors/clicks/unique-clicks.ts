/** Who clicked on what: the three numbers of G87. */
export type Visit = {
  readonly offerId: number;
  readonly affiliateId: number;
  /** Keyed hash of at most 52 bits. */
  readonly visitor: number;
};

const SLOTS_MIN = 1_024;
/** Linear probing stays short below this share of used slots. */
const LOAD_MAX = 0.6;
/** What is left after a clean-up, so that the next one is far away. */
const LOAD_AFTER = 0.3;

/**
 * When each visitor's last unique click on an offer of a partner was (G87). One open table of 16 bytes a slot: a 64-bit print
 * of the three numbers and a time. Two of a million visits share a print once in 37 million days.
 *
 * Bounded: above `entriesMax` the oldest half is forgotten, and those visitors may be unique once more (`forgotten`).
 */
export class UniqueClicks {
  readonly entriesMax: number;
  #low: Uint32Array;
  #high: Uint32Array;
  #atMs: Float64Array;
  #size = 0;
  #latestMs = 0;
  #print = { low: 0, high: 0 };
  forgotten = 0;
  /** Entries this much older than the newest one are dropped at the next clean-up. */
  retentionMs: number;

  constructor(options: { readonly entriesMax: number; readonly retentionMs: number }) {
    this.entriesMax = options.entriesMax;
    this.retentionMs = options.retentionMs;
    this.#low = new Uint32Array(SLOTS_MIN);
    this.#high = new Uint32Array(SLOTS_MIN);
    this.#atMs = new Float64Array(SLOTS_MIN);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#low.length * 16;
  }

  /** Whether this visit is unique, which it then is also remembered as. To be asked in the order of the stream. */
  take(visit: Visit, atMs: number, windowMs: number): boolean {
    const slot = this.#slotOf(visit);
    const lastMs = this.#atMs[slot] ?? 0;
    if (lastMs !== 0 && Math.abs(atMs - lastMs) < windowMs) return false;
    this.#put(slot, Math.max(atMs, lastMs));
    return true;
  }

  /** A unique click that is known already. */
  remember(visit: Visit, atMs: number): void {
    const slot = this.#slotOf(visit);
    this.#put(slot, Math.max(atMs, this.#atMs[slot] ?? 0));
  }

  /** The slot of a visit, or the free one where it belongs; its print is in `#print`. */
  #slotOf(visit: Visit): number {
    let low = mix(visit.offerId, visit.affiliateId, visit.visitor, 0x9e37_79b1);
    const high = mix(
      visit.visitor / 0x1_0000_0000,
      visit.affiliateId,
      visit.offerId ^ low,
      0x85eb_ca77,
    );
    // Both 0 would read as a free slot.
    if (low === 0 && high === 0) low = 1;
    this.#print.low = low;
    this.#print.high = high;
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
    this.#atMs[slot] = atMs;
    this.#latestMs = Math.max(this.#latestMs, atMs);
    if (this.#size > Math.min(this.entriesMax, this.#low.length * LOAD_MAX)) this.#cleanUp();
  }

  /** Drops what is past its time, and makes the table as large as what is left asks for. */
  #cleanUp(): void {
    const [low, high, atMs] = [this.#low, this.#high, this.#atMs];
    let oldestMs = this.#latestMs - this.retentionMs;
    let kept = countFrom(atMs, oldestMs);
    if (kept > this.entriesMax) {
      const times = atMs.filter((time) => time !== 0 && time >= oldestMs).sort();
      oldestMs = times[times.length >> 1] ?? oldestMs;
      const before = kept;
      kept = countFrom(atMs, oldestMs);
      this.forgotten += before - kept;
    }
    let slots = SLOTS_MIN;
    while (kept > slots * LOAD_AFTER) slots *= 2;
    this.#low = new Uint32Array(slots);
    this.#high = new Uint32Array(slots);
    this.#atMs = new Float64Array(slots);
    this.#size = 0;
    for (const [index, time] of atMs.entries()) {
      if (time === 0 || time < oldestMs) continue;
      const slot = this.#probe(low[index] ?? 0, high[index] ?? 0);
      this.#low[slot] = low[index] ?? 0;
      this.#high[slot] = high[index] ?? 0;
      this.#atMs[slot] = time;
      this.#size += 1;
    }
  }
}

function countFrom(times: Float64Array, fromMs: number): number {
  let count = 0;
  for (const time of times) if (time !== 0 && time >= fromMs) count += 1;
  return count;
}

/** 32 bits that depend on every bit of the three numbers' low halves. */
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

import assert from "node:assert";

const UINT32 = 2 ** 32;

/** Numbers that look random and are the same for the same seed: 32 bits of state, good enough for sample data and for nothing else. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / UINT32;
  }

  /** A whole number from 0 up to but not including `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)];
    assert(picked !== undefined, "there is something to pick from");
    return picked;
  }

  /** One of the entries, each as often as its weight. */
  weighted<T extends { readonly weight: number }>(entries: readonly T[]): T {
    let left = this.next() * entries.reduce((sum, { weight }) => sum + weight, 0);
    const chosen = entries.find(({ weight }) => (left -= weight) < 0) ?? entries.at(-1);
    assert(chosen !== undefined, "there is something to choose from");
    return chosen;
  }

  /** How many of many rare events happen, when `mean` are expected. */
  count(mean: number): number {
    const spread = Math.sqrt(mean) * this.#normal();
    return Math.max(0, Math.round(mean + spread));
  }

  /** Mostly near `median`, now and then several times as much. */
  skewed(median: number, spread: number): number {
    return median * Math.exp(spread * this.#normal());
  }

  #normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }
}

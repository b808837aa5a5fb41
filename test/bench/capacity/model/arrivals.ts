import { randomOf } from "../../../system/seed.ts";

/** Above this mean a normal distribution is close enough and costs the same for any mean. */
const EXACT_MEAN_MAX = 30;

/** Random arrivals, the same for the same seed. */
export class Arrivals {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomOf(seed);
  }

  /** Time until the next arrival of a stream with this mean time between two. */
  exponential(mean: number): number {
    return -Math.log(1 - this.#next()) * mean;
  }

  /** How many arrive in a time in which `mean` arrive on average. */
  poisson(mean: number): number {
    if (mean > EXACT_MEAN_MAX)
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.#normal()));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.#next(); product > limit; product *= this.#next()) count += 1;
    return count;
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#next())) * Math.cos(2 * Math.PI * this.#next());
  }
}

/** Requests to one destination at a time, while it answers. */
export const SLOTS_A_DESTINATION = 8;
/** Requests of the process at a time; each holds a socket and a few kilobytes. */
export const SLOTS_MAX = 512;

type Destination = { underWay: number; slots: number };

/**
 * How many requests may be under way, in all and to each destination. One that does not answer in time is left fewer slots with
 * every attempt, down to one, and gains one back with every answer: hundreds that hang still leave room for the others.
 */
export class DestinationSlots {
  /** Only those with fewer slots than usual, or with something under way. */
  readonly #destinations = new Map<string, Destination>();
  #underWay = 0;

  get underWay(): number {
    return this.#underWay;
  }

  /** Free slots of the process. */
  get free(): number {
    return SLOTS_MAX - this.#underWay;
  }

  /** Destinations that have fewer free slots than usual, and how many. */
  limited(): { readonly destinations: readonly string[]; readonly free: readonly number[] } {
    const limited = [...this.#destinations];
    return {
      destinations: limited.map(([name]) => name),
      free: limited.map(([, { slots, underWay }]) => Math.max(0, slots - underWay)),
    };
  }

  take(name: string): void {
    const destination = this.#destinations.get(name) ?? { underWay: 0, slots: SLOTS_A_DESTINATION };
    destination.underWay += 1;
    this.#underWay += 1;
    this.#destinations.set(name, destination);
  }

  /** Answers whether the destination had no free slot until now: more may be due for it. */
  give(name: string, { isInTime }: { readonly isInTime: boolean }): boolean {
    const destination = this.#destinations.get(name);
    if (destination === undefined) return false;
    const { slots, underWay } = destination;
    destination.underWay = underWay - 1;
    this.#underWay -= 1;
    destination.slots = isInTime
      ? Math.min(SLOTS_A_DESTINATION, slots + 1)
      : Math.max(1, Math.floor(slots / 2));
    if (destination.underWay === 0 && destination.slots === SLOTS_A_DESTINATION)
      this.#destinations.delete(name);
    else this.#forgetOldest();
    return underWay >= slots;
  }

  /** The longest known of those that nothing is sent to, beyond as many as have slots. */
  #forgetOldest(): void {
    if (this.#destinations.size <= 2 * SLOTS_MAX) return;
    for (const [name, { underWay }] of this.#destinations) {
      if (underWay > 0) continue;
      this.#destinations.delete(name);
      return;
    }
  }
}

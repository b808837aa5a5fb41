import type { LeasedDelivery } from "./delivery.ts";

/** A postback or webhook, and the host and port that its deliveries go to. */
export type Endpoint = Pick<LeasedDelivery, "kind" | "endpoint_id" | "destination">;
/** How many due deliveries of an endpoint may be leased; each gets a slot. */
export type Grant = Endpoint & { readonly rows: number };
/** A request under way. */
export type Slot = Endpoint & { readonly sinceMs: number };

/** Requests to one endpoint at a time, while it answers. */
export const SLOTS_PER_ENDPOINT = 8;
/** Requests to one host and port at a time. */
export const SLOTS_PER_HOST = 64;
/** Requests of the process at a time; each holds a socket and a few kilobytes. */
export const SLOTS_MAX = 512;
/** An endpoint is slow while one of its requests has waited this long for an answer, or while it has fewer slots than usual. */
export const SLOW_AFTER_MS = 500;
/** The share of a host's and of the process's slots that slow endpoints may use together. */
const SLOW_SHARE = 1 / 2;
/** Above this share of a host's or the process's slots, only an endpoint without a request under way gets a slot. */
const REPEATED_SHARE = 3 / 4;
/** The most endpoints with fewer slots than usual. Beyond it, the one changed longest ago is forgotten and has all its slots again. */
const REDUCED_MAX = 10_000;

/** The requests under way to a host, or in the process. */
class Load {
  readonly #max: number;
  #underWay = 0;
  #slow = 0;

  constructor(max: number) {
    this.#max = max;
  }

  hasSlotFor({ underWay, isSlow }: EndpointLoad): boolean {
    if (this.#underWay >= (underWay === 0 ? this.#max : this.#max * REPEATED_SHARE)) return false;
    return !isSlow || this.#slow < this.#max * SLOW_SHARE;
  }

  add({ isSlow }: EndpointLoad): void {
    this.#underWay += 1;
    if (isSlow) this.#slow += 1;
  }
}

type EndpointLoad = { underWay: number; isSlow: boolean; readonly slots: number };

/**
 * Decides which deliveries may be under way. Slots are limited by endpoint, by host and port, and by process (G204).
 *
 * An attempt without an answer halves the endpoint's slots, down to one; each answer adds one. Free slots of a host go to the endpoint
 * with the fewest requests under way. Slow endpoints together get at most half of a host's slots. The last quarter is for
 * endpoints without a request under way: an endpoint that starts to hang cannot use all slots before it counts as slow.
 */
export class DeliverySlots {
  readonly #underWay = new Set<Slot>();
  /** Endpoints with fewer slots than usual. */
  readonly #reduced = new Map<string, number>();
  /** Hosts without a slot for a delivery that was due at the last {@link grant}. */
  readonly #crowded = new Set<string>();
  #isProcessCrowded = false;

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Free slots of the process. */
  get free(): number {
    return SLOTS_MAX - this.#underWay.size;
  }

  /**
   * Divides at most `rowsMax` free slots among endpoints with due deliveries. Endpoints with the fewest requests under way come first;
   * equals are in random order, so that their order in the list gives no advantage.
   */
  grant(
    due: readonly Endpoint[],
    { rowsMax, nowMs }: { readonly rowsMax: number; readonly nowMs: number },
  ): Grant[] {
    const load = this.#load(nowMs);
    this.#crowded.clear();
    this.#isProcessCrowded = false;
    let left = Math.min(rowsMax, this.free);
    const all = shuffled(due).map((endpoint) => ({
      endpoint,
      rows: 0,
      at: load.endpoint(endpoint),
      host: load.host(endpoint.destination),
    }));
    for (let underWay = 0; underWay < SLOTS_PER_ENDPOINT && left > 0; underWay += 1) {
      for (const one of all) {
        const { at, host } = one;
        if (left === 0 || at.underWay !== underWay || underWay >= at.slots) continue;
        if (!host.hasSlotFor(at)) this.#crowded.add(one.endpoint.destination);
        else if (!load.process.hasSlotFor(at)) this.#isProcessCrowded = true;
        else {
          host.add(at);
          load.process.add(at);
          at.underWay += 1;
          one.rows += 1;
          left -= 1;
        }
      }
    }
    return all.flatMap(({ endpoint, rows }) => (rows === 0 ? [] : [{ ...endpoint, rows }]));
  }

  take({ kind, endpoint_id, destination }: Endpoint, nowMs: number): Slot {
    const slot = { kind, endpoint_id, destination, sinceMs: nowMs };
    this.#underWay.add(slot);
    return slot;
  }

  /** Returns whether a delivery that waited for this slot may be sent now. */
  release(slot: Slot, { isInTime }: { readonly isInTime: boolean }): boolean {
    const key = keyOf(slot);
    const slots = this.#reduced.get(key) ?? SLOTS_PER_ENDPOINT;
    const hadFreeSlot = this.#countOf(slot) < slots;
    this.#underWay.delete(slot);
    this.#reduced.delete(key);
    const next = isInTime ? slots + 1 : Math.max(1, Math.floor(slots / 2));
    if (next < SLOTS_PER_ENDPOINT) this.#reduced.set(key, next);
    if (this.#reduced.size > REDUCED_MAX) this.#forgetOldest();
    return !hadFreeSlot || this.#isProcessCrowded || this.#crowded.has(slot.destination);
  }

  #countOf({ kind, endpoint_id }: Endpoint): number {
    let count = 0;
    for (const slot of this.#underWay)
      if (slot.endpoint_id === endpoint_id && slot.kind === kind) count += 1;
    return count;
  }

  #forgetOldest(): void {
    for (const key of this.#reduced.keys()) {
      this.#reduced.delete(key);
      return;
    }
  }

  /** The current load by endpoint, by host and in total. */
  #load(nowMs: number) {
    const endpoints = new Map<string, EndpointLoad>();
    const hosts = new Map<string, Load>();
    const process = new Load(SLOTS_MAX);
    const endpoint = (called: Endpoint): EndpointLoad => {
      const key = keyOf(called);
      const slots = this.#reduced.get(key) ?? SLOTS_PER_ENDPOINT;
      const known = endpoints.get(key) ?? {
        underWay: 0,
        slots,
        isSlow: slots < SLOTS_PER_ENDPOINT,
      };
      endpoints.set(key, known);
      return known;
    };
    const host = (name: string): Load => {
      const known = hosts.get(name) ?? new Load(SLOTS_PER_HOST);
      hosts.set(name, known);
      return known;
    };
    for (const slot of this.#underWay) {
      const load = endpoint(slot);
      load.underWay += 1;
      if (nowMs - slot.sinceMs >= SLOW_AFTER_MS) load.isSlow = true;
    }
    for (const slot of this.#underWay) {
      host(slot.destination).add(endpoint(slot));
      process.add(endpoint(slot));
    }
    return { endpoint, host, process };
  }
}

function keyOf({ kind, endpoint_id }: Endpoint): string {
  return `${kind} ${endpoint_id}`;
}

/** In random order (Fisher-Yates). */
function shuffled<T>(values: readonly T[]): T[] {
  const all = [...values];
  for (let i = all.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    const [a, b] = [all[i], all[j]];
    if (a === undefined || b === undefined) continue;
    all[i] = b;
    all[j] = a;
  }
  return all;
}

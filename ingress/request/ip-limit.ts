import { siteOf } from "../../schemas/net/site.ts";
import { BoundedCache } from "./bounded-cache.ts";

/** Addresses beyond these that were not seen for longest are forgotten, and begin anew with a full bucket. */
const ADDRESSES_REMEMBERED_MAX = 100_000;
const MINUTE_MS = 60_000;

type Bucket = { tokens: number; filledAtMs: number };

/**
 * A token bucket for each address (G152): `perMinute` requests at once, filled up again over a minute. A household of IPv6 is
 * one address: its /64.
 */
export class IpLimit {
  readonly #perMinute: number;
  readonly #buckets = new BoundedCache<Bucket>(ADDRESSES_REMEMBERED_MAX);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** One that was taken turned out not to count. */
  giveBack(ip: string): void {
    const bucket = this.#buckets.get(siteOf(ip));
    if (bucket !== undefined) bucket.tokens = Math.min(this.#perMinute, bucket.tokens + 1);
  }

  /** Takes one request of `ip` (normal form): 0 when it may pass, else the ms after which the next one may. */
  take(ip: string, nowMs: number): number {
    const key = siteOf(ip);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#perMinute, filledAtMs: nowMs };
      this.#buckets.set(key, bucket);
    }
    // A clock that was set back fills nothing and takes nothing away.
    const gained = (Math.max(0, nowMs - bucket.filledAtMs) * this.#perMinute) / MINUTE_MS;
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + gained);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / this.#perMinute);
  }

  /** Addresses it holds at the moment. */
  get size(): number {
    return this.#buckets.size;
  }
}

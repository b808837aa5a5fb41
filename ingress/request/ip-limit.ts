import { siteOf } from "../../schemas/net/site.ts";
import { BoundedCache } from "./bounded-cache.ts";

/** Beyond this number the addresses not seen for longest are forgotten, and start again with a full bucket. */
const ADDRESSES_REMEMBERED_MAX = 100_000;
const MINUTE_MS = 60_000;

type Bucket = { tokens: number; filledAtMs: number };

/**
 * A token bucket for each address (G152): `perMinute` requests at once, filled up again over a minute. An IPv6 household counts as
 * one address: its /64.
 */
export class IpLimit {
  readonly #perMinute: number;
  readonly #buckets = new BoundedCache<Bucket>(ADDRESSES_REMEMBERED_MAX);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Gives back a request that does not count after all. */
  giveBack(ip: string): void {
    const bucket = this.#buckets.get(siteOf(ip));
    if (bucket !== undefined) bucket.tokens = Math.min(this.#perMinute, bucket.tokens + 1);
  }

  /** Takes one request of `ip` (normal form). Returns 0 when it may pass, else the ms until the next one may. */
  take(ip: string, nowMs: number): number {
    const key = siteOf(ip);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#perMinute, filledAtMs: nowMs };
      this.#buckets.set(key, bucket);
    }
    // A clock that was set back adds nothing and removes nothing.
    const gained = (Math.max(0, nowMs - bucket.filledAtMs) * this.#perMinute) / MINUTE_MS;
    bucket.tokens = Math.min(this.#perMinute, bucket.tokens + gained);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.ceil(((1 - bucket.tokens) * MINUTE_MS) / this.#perMinute);
  }

  /** Addresses held now. */
  get size(): number {
    return this.#buckets.size;
  }
}

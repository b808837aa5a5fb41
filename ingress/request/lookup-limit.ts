import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import type { RawRequest } from "../route.ts";
import { clientIp } from "./client-ip.ts";
import { IpLimit } from "./ip-limit.ts";

/** Permission for one look-up. `found` gives it back, because only look-ups that find nothing count. */
export type Lookup = { readonly found: () => void };

/**
 * Bounds the look-ups of clicks that find nothing, for each address. Pixels and landing pages need no token, and a made-up ID
 * costs a query to every writer and to ClickHouse. Visitors behind one address share its limit, so successful look-ups are
 * free.
 */
export class LookupLimit {
  readonly #limit: IpLimit | undefined;
  readonly #trustedProxies: TrustedProxies;
  readonly #clock: Clock;

  /** 0 means no limit. */
  constructor(options: {
    readonly perMinute: number;
    readonly trustedProxies: TrustedProxies;
    readonly clock: Clock;
  }) {
    this.#limit = options.perMinute === 0 ? undefined : new IpLimit(options.perMinute);
    this.#trustedProxies = options.trustedProxies;
    this.#clock = options.clock;
  }

  /** Returns the permission, or the seconds until the address may look up again. */
  take(request: RawRequest): Lookup | number {
    const limit = this.#limit;
    if (limit === undefined) return FREE;
    const ip = clientIp(request, this.#trustedProxies);
    const waitMs = limit.take(ip, this.#clock.nowMs());
    return waitMs === 0 ? { found: () => limit.giveBack(ip) } : Math.ceil(waitMs / 1_000);
  }
}

const FREE: Lookup = { found: () => undefined };

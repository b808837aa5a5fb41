import type { TrustedProxies } from "../../schemas/net/forwarded-for.ts";
import type { Clock } from "../../schemas/time/clock.ts";
import type { RawRequest } from "../route.ts";
import { clientIp } from "./client-ip.ts";
import { IpLimit } from "./ip-limit.ts";

/** A look-up that may be made. `found` gives it back: only those that find nothing count. */
export type Lookup = { readonly found: () => void };

/**
 * Bounds the look-ups of clicks that find nothing, for each address. Pixels and landing pages need no token, and an ID made up at
 * random costs a question to every writer and to ClickHouse. Visitors behind one address share its limit, so what they look up with
 * success is free.
 */
export class LookupLimit {
  readonly #limit: IpLimit | undefined;
  readonly #trustedProxies: TrustedProxies;
  readonly #clock: Clock;

  /** 0 limits nobody. */
  constructor(options: {
    readonly perMinute: number;
    readonly trustedProxies: TrustedProxies;
    readonly clock: Clock;
  }) {
    this.#limit = options.perMinute === 0 ? undefined : new IpLimit(options.perMinute);
    this.#trustedProxies = options.trustedProxies;
    this.#clock = options.clock;
  }

  /** The seconds after which the address may look up again, when it may not now. */
  take(request: RawRequest): Lookup | number {
    const limit = this.#limit;
    if (limit === undefined) return FREE;
    const ip = clientIp(request, this.#trustedProxies);
    const waitMs = limit.take(ip, this.#clock.nowMs());
    return waitMs === 0 ? { found: () => limit.giveBack(ip) } : Math.ceil(waitMs / 1_000);
  }
}

const FREE: Lookup = { found: () => undefined };

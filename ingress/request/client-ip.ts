import {
  type Client,
  forwardedClient,
  type Hop,
  type TrustedProxies,
} from "../../schemas/net/forwarded-for.ts";
import type { RawRequest } from "../route.ts";
import { BoundedCache, detached } from "./bounded-cache.ts";

const HOPS_REMEMBERED_MAX = 10_000;

/** Caches whether an address is a trusted proxy. The same proxies forward most requests: a chain costs 0.2 µs instead of 1.0. */
export function rememberHops(trusted: TrustedProxies): TrustedProxies {
  const hops = new BoundedCache<Hop>(HOPS_REMEMBERED_MAX);
  return {
    hop: (address) => {
      const known = hops.get(address);
      if (known !== undefined) return known;
      const hop = trusted.hop(detached(address));
      hops.set(address, hop);
      return hop;
    },
  };
}

/** See {@link clientOf}. */
export function clientIp(request: RawRequest, trusted: TrustedProxies): string {
  return clientOf(request, trusted).ip;
}

/** The client that sent the request: see {@link forwardedClient}. */
export function clientOf({ peerIp, headers }: RawRequest, trusted: TrustedProxies): Client {
  return forwardedClient(peerIp, headers.xForwardedFor, trusted);
}

/** Whether the request reached us, or the proxy in front of us, over TLS. */
export function isHttps(request: RawRequest, trusted: TrustedProxies): boolean {
  const { xForwardedProto } = request.headers;
  if (xForwardedProto === "" || !trusted.hop(request.peerIp).isTrusted) return false;
  // The first value is from the hop that the visitor connects to. A visitor who forges it only loses a cookie.
  return /^\s*https\s*(,|$)/i.test(xForwardedProto);
}

import type { RawRequest } from "../route.ts";
import { BoundedCache } from "./bounded-cache.ts";
import { normalIp } from "./ip-address.ts";
import { parseIpRanges } from "./ip-ranges.ts";

const PEERS_REMEMBERED_MAX = 10_000;
/** Longer chains are cut: no honest one comes near. */
const HOPS_MAX = 64;

type Hop = { readonly ip: string; readonly isTrusted: boolean };

/** Who may speak for others (TRUSTED_PROXIES): X-Forwarded-For and X-Forwarded-Proto of anyone else are not read. */
export type TrustedProxies = {
  /** The address in its normal form, "" when it is none, and whether its word counts. */
  readonly hop: (address: string) => Hop;
};

/** @throws {RangeError} naming every item that is neither an address nor a CIDR. */
export function parseTrustedProxies(list: readonly string[]): TrustedProxies {
  const ranges = parseIpRanges(list);
  if (ranges.unreadable.length > 0) {
    throw new RangeError(`neither an address nor a CIDR: ${ranges.unreadable.join(", ")}`);
  }
  const hops = new BoundedCache<Hop>(PEERS_REMEMBERED_MAX);
  return {
    hop: (address) => {
      const known = hops.get(address);
      if (known !== undefined) return known;
      const ip = normalIp(address);
      const hop = { ip, isTrusted: ip !== "" && ranges.contains(ip) };
      hops.set(address, hop);
      return hop;
    },
  };
}

/** Who sent the request, and whether anybody forwarded it on the way to our own proxies. */
export type Client = { readonly ip: string; readonly isForwarded: boolean };

/** See {@link clientOf}. */
export function clientIp(request: RawRequest, trusted: TrustedProxies): string {
  return clientOf(request, trusted).ip;
}

/**
 * The right-most address that no trusted proxy stands for (P33, G07): the peer itself, unless it is trusted; then hop by
 * hop from the right of X-Forwarded-For. Whatever a client wrote stands further to the left and is never reached.
 */
export function clientOf(request: RawRequest, trusted: TrustedProxies): Client {
  const peer = trusted.hop(request.peerIp);
  const chain = request.headers.xForwardedFor;
  if (!peer.isTrusted || chain === "") return { ip: peer.ip, isForwarded: chain !== "" };
  let last = peer.ip;
  let end = chain.length;
  for (let hops = 0; hops < HOPS_MAX && end >= 0; hops += 1) {
    const comma = end === 0 ? -1 : chain.lastIndexOf(",", end - 1);
    const hop = trusted.hop(withoutPort(chain.slice(comma + 1, end).trim()));
    // A proxy that wrote no address has nobody to stand for: the proxy itself is the client.
    if (hop.ip === "") return { ip: last, isForwarded: true };
    if (!hop.isTrusted) return { ip: hop.ip, isForwarded: comma >= 0 };
    last = hop.ip;
    end = comma;
  }
  return { ip: last, isForwarded: end >= 0 };
}

/** Whether the request reached us, or the proxy in front of us, over TLS. */
export function isHttps(request: RawRequest, trusted: TrustedProxies): boolean {
  const { xForwardedProto } = request.headers;
  if (xForwardedProto === "" || !trusted.hop(request.peerIp).isTrusted) return false;
  // The first word is of the hop that the visitor sees; forging it only costs the forger a cookie.
  return /^\s*https\s*(,|$)/i.test(xForwardedProto);
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, Math.max(1, hop.indexOf("]")));
  const colon = hop.indexOf(":");
  return colon > 0 && colon === hop.lastIndexOf(":") && hop.includes(".")
    ? hop.slice(0, colon)
    : hop;
}

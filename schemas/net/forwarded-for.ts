import { normalIp } from "./address.ts";
import { ipRangesOf } from "./ip-ranges.ts";

/** Longer chains are cut. Real ones are much shorter. */
const HOPS_MAX = 64;

/** An address in its normal form, "" if invalid, and whether it is a trusted proxy. */
export type Hop = { readonly ip: string; readonly isTrusted: boolean };

/** Trusted proxies (TRUSTED_PROXIES). X-Forwarded-For and X-Forwarded-Proto from other senders are ignored. */
export type TrustedProxies = { readonly hop: (address: string) => Hop };

/** @throws {RangeError} naming every item that is neither an address nor a CIDR. */
export function parseTrustedProxies(list: readonly string[]): TrustedProxies {
  const ranges = ipRangesOf(list);
  return {
    hop: (address) => {
      const ip = normalIp(address);
      return { ip, isTrusted: ip !== "" && ranges.contains(ip) };
    },
  };
}

/** Who sent the request, and whether anybody forwarded it on the way to our own proxies. */
export type Client = { readonly ip: string; readonly isForwarded: boolean };

/**
 * The right-most address that is not a trusted proxy (P33, G07): the peer itself, unless it is trusted; then hop by hop from the right of
 * the chain, which is X-Forwarded-For or "". Addresses that a client forged are further to the left and never reached.
 */
export function forwardedClient(peerIp: string, chain: string, trusted: TrustedProxies): Client {
  const peer = trusted.hop(peerIp);
  if (!peer.isTrusted || chain === "") return { ip: peer.ip, isForwarded: chain !== "" };
  let last = peer.ip;
  let end = chain.length;
  for (let hops = 0; hops < HOPS_MAX && end >= 0; hops += 1) {
    const comma = end === 0 ? -1 : chain.lastIndexOf(",", end - 1);
    const hop = trusted.hop(withoutPort(chain.slice(comma + 1, end).trim()));
    // The proxy wrote no address, so the proxy itself is the client.
    if (hop.ip === "") return { ip: last, isForwarded: true };
    if (!hop.isTrusted) return { ip: hop.ip, isForwarded: comma >= 0 };
    last = hop.ip;
    end = comma;
  }
  return { ip: last, isForwarded: end >= 0 };
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, Math.max(1, hop.indexOf("]")));
  const colon = hop.indexOf(":");
  return colon > 0 && colon === hop.lastIndexOf(":") && hop.includes(".")
    ? hop.slice(0, colon)
    : hop;
}

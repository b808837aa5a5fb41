import { isIP } from "node:net";
import { type AddressList, plainAddress } from "./address-list.ts";

/**
 * The address a request comes from: the socket's, or, while that and each hop to its left is a trusted proxy, the next one of
 * X-Forwarded-For from the right (G07). What stands left of the first untrusted hop was written by the caller and is not
 * looked at (P33). A hop that is no address ends the walk.
 */
export function clientIp(
  socketAddress: string,
  forwardedFor: string | undefined,
  trusted: AddressList,
): string {
  let address = plainAddress(socketAddress);
  if (trusted.isEmpty || forwardedFor === undefined) return address;
  const hops = forwardedFor.split(",").reverse();
  for (const hop of hops) {
    if (!trusted.contains(address)) return address;
    const next = plainAddress(hop.trim());
    if (isIP(next) === 0) return address;
    address = next;
  }
  return address;
}

/** Who shares one budget of unauthenticated requests: an IPv4 address, or the /64 that one IPv6 site has. */
export function addressBucket(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  const groups = tail === undefined ? left : [...left, ...zeros, ...right];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

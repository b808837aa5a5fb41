import { normalIp } from "./address.ts";
import { ipRangesOf } from "./ip-ranges.ts";

/** IPv4 ranges that no host on the Internet has (the registry of special-purpose addresses), with multicast. */
// biome-ignore format: one value per line would hide them
const SPECIAL_IPV4 = [
  "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
  "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
  "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
  "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
];
/** The only assigned range of public IPv6 addresses, ... */
const GLOBAL_IPV6 = "2000::/3";
/** ... except for protocols, tunnels to arbitrary IPv4 addresses (Teredo, 6to4), and documentation. */
// biome-ignore format: one value per line would hide them
const SPECIAL_IPV6 = [
  "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
];

const special = ipRangesOf([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
const global = ipRangesOf(["0.0.0.0/0", GLOBAL_IPV6]);
const loopback = ipRangesOf(["127.0.0.0/8", "::1"]);

/**
 * Whether an address is on the public Internet. False for loopback, private, link-local and other special ranges, for all forms of IPv6
 * that contain an IPv4 address, and for invalid addresses, such as one with a zone.
 */
export function isPublicAddress(address: string): boolean {
  const isMapped = address.includes(":") && !normalIp(address).includes(":");
  return !isMapped && global.contains(address) && !special.contains(address);
}

/** Also true for a loopback address of IPv4 in the form of IPv6 that carries it. */
export function isLoopbackAddress(address: string): boolean {
  return loopback.contains(address);
}

import { parseIp } from "./address.ts";

/** The key of a request budget: an IPv4 address, or the /64 of an IPv6 site. `ip` is a normal form or "". */
export function siteOf(ip: string): string {
  const groups = ip.includes(":") ? parseIp(ip) : undefined;
  if (groups === undefined) return ip;
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

import { type IpRanges, parseIpRanges } from "../../../schemas/net/ip-ranges.ts";

/** Compiled lists by their source array. The catalog replaces the array on each change, so an entry never becomes stale. */
const compiled = new WeakMap<readonly string[], IpRanges>();

/** Whether `ip` is on a list of addresses and CIDRs. An empty list matches every address (G184). Invalid entries match nothing. */
export function isOnIpList(list: readonly string[], ip: string): boolean {
  if (list.length === 0) return true;
  let addresses = compiled.get(list);
  if (addresses === undefined) {
    addresses = parseIpRanges(list);
    compiled.set(list, addresses);
  }
  return addresses.contains(ip);
}

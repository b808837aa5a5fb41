import { type IpRanges, parseIpRanges } from "../../schemas/net/ip-ranges.ts";

/** Compiled lists by the array they were made from: the catalog replaces an array whenever it changes. */
const compiled = new WeakMap<readonly string[], IpRanges>();

/** Whether `ip` is on a list of addresses and CIDRs; an empty list has everybody on it (G184). Entries that are neither match nothing. */
export function isOnIpList(list: readonly string[], ip: string): boolean {
  if (list.length === 0) return true;
  let addresses = compiled.get(list);
  if (addresses === undefined) {
    addresses = parseIpRanges(list);
    compiled.set(list, addresses);
  }
  return addresses.contains(ip);
}

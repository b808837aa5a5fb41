import { BlockList, isIP } from "node:net";

/** Compiled lists by the array they were made from: the catalog replaces an array whenever it changes. */
const compiled = new WeakMap<readonly string[], BlockList>();

/** Whether `ip` is on a list of addresses and CIDRs; an empty list has everybody on it (G184). Entries that are neither match nothing. */
export function isOnIpList(list: readonly string[], ip: string): boolean {
  if (list.length === 0) return true;
  const family = isIP(ip);
  if (family === 0) return false;
  let addresses = compiled.get(list);
  if (addresses === undefined) {
    addresses = compile(list);
    compiled.set(list, addresses);
  }
  return addresses.check(ip, family === 6 ? "ipv6" : "ipv4");
}

function compile(list: readonly string[]): BlockList {
  const addresses = new BlockList();
  for (const entry of list) {
    const [address = "", prefix] = entry.trim().split("/");
    const family = isIP(address);
    if (family === 0) continue;
    const type = family === 6 ? "ipv6" : "ipv4";
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : Number(prefix);
    if (Number.isInteger(bits) && bits >= 0 && bits <= (family === 6 ? 128 : 32)) {
      addresses.addSubnet(address, bits, type);
    }
  }
  return addresses;
}

/** As a workspace keeps addresses: whole, or the /24 and /48 they lie in. "" for what is no address. */
export function storedIp(ip: string, storage: "full" | "truncated"): string {
  const family = isIP(ip);
  if (family === 0) return "";
  if (storage === "full") return ip;
  if (family === 4) return `${ip.split(".").slice(0, 3).join(".")}.0`;
  return `${firstGroups(ip, 3).join(":")}::`;
}

/** The first groups of an IPv6 address, with those that `::` leaves out. */
function firstGroups(ip: string, count: number): string[] {
  const [head = "", tail = ""] = ip.split("%")[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === "" ? [] : tail.split(":");
  // An IPv4 tail stands for two groups; it never reaches into the first three.
  const missing = Math.max(0, 8 - left.length - right.length);
  const groups = ip.includes("::")
    ? [...left, ...Array.from({ length: missing }, () => "0"), ...right]
    : left;
  return groups.slice(0, count).map((group) => group.toLowerCase());
}

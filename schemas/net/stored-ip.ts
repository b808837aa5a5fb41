import { formatIp, normalIp, parseIp } from "./address.ts";

/** `ip_storage` of a workspace. Undefined for a call of no workspace: then only the network is kept. */
type Storage = "full" | "truncated" | undefined;

/** An address as a workspace keeps it: whole, or the /24 of IPv4 and the /48 of IPv6 that it lies in. "" for any other text. */
export function storedIp(text: string, storage: Storage): string {
  return storedNormalIp(normalIp(text), storage);
}

/** The same for an address in its normal form ({@link normalIp}), which every click has: saves 0.2 µs. */
export function storedNormalIp(ip: string, storage: Storage): string {
  if (storage === "full" || ip === "") return ip;
  if (!ip.includes(":")) return `${ip.slice(0, ip.lastIndexOf("."))}.0`;
  const groups = parseIp(ip);
  return groups === undefined ? "" : formatIp([...groups.slice(0, 3), 0, 0, 0, 0, 0]);
}

import { isIP } from "node:net";

const GROUPS = 8;

/** How one address may stand in a row. */
export type AddressForms = {
  /** The whole address, as different senders and stores write it. */
  readonly whole: readonly string[];
  /** The /24 or /48 that workspaces with `ip_storage` truncated keep. */
  readonly truncated: readonly string[];
};

/** Undefined for a text that is no address. */
export function addressForms(ip: string): AddressForms | undefined {
  const family = isIP(ip);
  if (family === 0 || ip.includes("%")) return undefined;
  if (family === 4) return { whole: [ip], truncated: [`${ip.split(".").slice(0, 3).join(".")}.0`] };
  const canonical = canonicalV6(ip);
  const groups = groupsOf(canonical);
  const network = groups.slice(0, 3).join(":");
  return {
    whole: unique([
      ...[canonical, ip.toLowerCase(), groups.join(":")],
      groups.map((group) => group.padStart(4, "0")).join(":"),
    ]),
    truncated: unique([`${network}::`, canonicalV6(`${network}::`)]),
  };
}

/** As RFC 5952 writes it: the form that URLs have between brackets. */
function canonicalV6(ip: string): string {
  return new URL(`http://[${ip}]/`).hostname.slice(1, -1);
}

function groupsOf(canonical: string): string[] {
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  if (tail === undefined) return left;
  const right = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: GROUPS - left.length - right.length }, () => "0");
  return [...left, ...zeros, ...right];
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

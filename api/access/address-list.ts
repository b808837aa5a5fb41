import { BlockList, isIP } from "node:net";

/** Addresses, CIDRs and ranges `from-to`; an IPv4 address in its IPv6 form counts as IPv4. */
export class AddressList {
  readonly #list = new BlockList();
  readonly isEmpty: boolean;

  /** @throws {Error} for an entry that is none of them. */
  constructor(entries: readonly string[]) {
    this.isEmpty = entries.length === 0;
    for (const entry of entries) {
      const [from = "", to] = entry.split("-");
      const range = parseRange(from);
      if (range === undefined) throw new Error(`${entry} is neither an address nor a range`);
      if (to === undefined) this.#list.addSubnet(range.address, range.prefixBits, range.family);
      else this.#list.addRange(range.address, to, range.family);
    }
  }

  contains(address: string): boolean {
    const plain = plainAddress(address);
    const family = isIP(plain);
    if (family === 0) return false;
    return this.#list.check(plain, family === 4 ? "ipv4" : "ipv6");
  }
}

/** Whether a text is an IPv4 or IPv6 address or a CIDR range of them (G07). */
export function isAddressOrRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** Without a zone, and IPv4 written as IPv4. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address.replace(/%.*$/, "");
}

type Range = {
  readonly address: string;
  readonly prefixBits: number;
  readonly family: "ipv4" | "ipv6";
};

function parseRange(text: string): Range | undefined {
  const [, written = "", prefix] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const address = plainAddress(written);
  const version = isIP(address);
  if (version === 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  // A prefix of a mapped address would count 128 bits of an address that is kept as 32.
  if (prefix !== undefined && address !== written) return undefined;
  const prefixBits = prefix === undefined ? bits : Number(prefix);
  if (prefixBits > bits) return undefined;
  return { address, prefixBits, family: version === 4 ? "ipv4" : "ipv6" };
}

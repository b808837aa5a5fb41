import { type IpGroups, parseIp, parseIpv4 } from "../../schemas/net/address.ts";

export type Network = { readonly asn: number; readonly name: string };

/** The ranges in ascending order, and the names of the networks. */
export type AsnColumns = {
  readonly v4First: Uint32Array;
  readonly v4Last: Uint32Array;
  readonly v4Asn: Uint32Array;
  /** Eight units for each range. */
  readonly v6First: Uint16Array;
  readonly v6Last: Uint16Array;
  readonly v6Asn: Uint32Array;
  /** The numbers that have a name, in ascending order. */
  readonly nameAsn: Uint32Array;
  /** Where each name ends in `nameText`. The next one begins there. */
  readonly nameEnd: Uint32Array;
  /** UTF-8. */
  readonly nameText: Buffer;
};

const UNITS_V6 = 8;

/** Address ranges and their networks. */
export class AsnTable {
  readonly #columns: AsnColumns;

  constructor(columns: AsnColumns) {
    this.#columns = columns;
  }

  /** `ip` in its normal form. */
  find(ip: string): Network | undefined {
    const asn = ip.includes(":") ? this.#findV6(ip) : this.#findV4(parseIpv4(ip));
    return asn === 0 ? undefined : { asn, name: this.#nameOf(asn) };
  }

  #findV4(address: number): number {
    const { v4First, v4Last, v4Asn } = this.#columns;
    const at = lastUpTo(v4First, address);
    return at >= 0 && address <= (v4Last[at] ?? 0) ? (v4Asn[at] ?? 0) : 0;
  }

  #findV6(ip: string): number {
    const groups = parseIp(ip);
    if (groups === undefined) return 0;
    const { v6First, v6Last, v6Asn } = this.#columns;
    let low = 0;
    let high = v6Asn.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if (compareAt(v6First, middle, groups) <= 0) low = middle + 1;
      else high = middle - 1;
    }
    return high >= 0 && compareAt(v6Last, high, groups) >= 0 ? (v6Asn[high] ?? 0) : 0;
  }

  #nameOf(asn: number): string {
    const { nameAsn, nameEnd, nameText } = this.#columns;
    const at = lastUpTo(nameAsn, asn);
    if (at < 0 || nameAsn[at] !== asn) return "";
    return nameText.toString("utf8", nameEnd[at - 1] ?? 0, nameEnd[at]);
  }
}

/** The place of the last of ascending numbers that is not above `limit`; -1 if all are above, or if it is not a number. */
function lastUpTo(ascending: Uint32Array, limit: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}

function compareAt(units: Uint16Array, at: number, groups: IpGroups): number {
  for (let i = 0; i < UNITS_V6; i += 1) {
    const difference = (units[at * UNITS_V6 + i] ?? 0) - (groups[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

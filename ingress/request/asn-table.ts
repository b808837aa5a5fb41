import { readFile } from "node:fs/promises";
import { type IpGroups, parseIp, parseIpv4 } from "../../schemas/net/address.ts";

export type Network = { readonly asn: number; readonly name: string };

const COMMA = 0x2c;
const NEWLINE = 0x0a;
const UNITS_V6 = 8;

/**
 * Address ranges and their networks, from two CSV files of `first,last,asn,name` in ascending order, addresses as decimal
 * numbers. Both files are read at the start (0.6 s), because reading them later would hold up visitors.
 */
export class AsnTable {
  readonly #names: Names;
  readonly #v4: RangesV4;
  readonly #v6: RangesV6;

  private constructor(options: { v4: RangesV4; v6: RangesV6; names: Names }) {
    this.#v4 = options.v4;
    this.#v6 = options.v6;
    this.#names = options.names;
  }

  static async open(paths: { v4: string; v6: string }): Promise<AsnTable> {
    const names: Names = new Map();
    const [v4, v6] = await Promise.all([readFile(paths.v4), readFile(paths.v6)]);
    return AsnTable.parse({ v4, v6 }, names);
  }

  static parse(csv: { v4: Buffer; v6: Buffer }, names: Names = new Map()): AsnTable {
    return new AsnTable({ v4: parseV4(csv.v4, names), v6: parseV6(csv.v6, names), names });
  }

  /** `ip` in its normal form. */
  find(ip: string): Network | undefined {
    const asn = ip.includes(":") ? this.#findV6(ip) : this.#findV4(parseIpv4(ip));
    if (asn === 0) return undefined;
    return { asn, name: this.#names.get(asn) ?? "" };
  }

  #findV4(address: number): number {
    const { first, last, asn } = this.#v4;
    let low = 0;
    let high = first.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if ((first[middle] ?? 0) <= address) low = middle + 1;
      else high = middle - 1;
    }
    return high >= 0 && address <= (last[high] ?? 0) ? (asn[high] ?? 0) : 0;
  }

  #findV6(ip: string): number {
    const groups = parseIp(ip);
    if (groups === undefined) return 0;
    const { first, last, asn } = this.#v6;
    let low = 0;
    let high = asn.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if (compareAt(first, middle, groups) <= 0) low = middle + 1;
      else high = middle - 1;
    }
    return high >= 0 && compareAt(last, high, groups) >= 0 ? (asn[high] ?? 0) : 0;
  }
}

type Names = Map<number, string>;
type RangesV4 = {
  readonly first: Uint32Array;
  readonly last: Uint32Array;
  readonly asn: Uint32Array;
};
type RangesV6 = {
  /** Eight units for each range. */
  readonly first: Uint16Array;
  readonly last: Uint16Array;
  readonly asn: Uint32Array;
};

function compareAt(units: Uint16Array, at: number, groups: IpGroups): number {
  for (let i = 0; i < UNITS_V6; i += 1) {
    const difference = (units[at * UNITS_V6 + i] ?? 0) - (groups[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function parseV4(csv: Buffer, names: Names): RangesV4 {
  const count = countLines(csv);
  const first = new Uint32Array(count);
  const last = new Uint32Array(count);
  const asn = new Uint32Array(count);
  let row = 0;
  for (let at = 0; at < csv.length; row += 1) {
    const firstEnd = csv.indexOf(COMMA, at);
    const lastEnd = csv.indexOf(COMMA, firstEnd + 1);
    first[row] = readNumber(csv, at, firstEnd);
    last[row] = readNumber(csv, firstEnd + 1, lastEnd);
    const network = readNetwork(csv, lastEnd + 1, names);
    asn[row] = network.asn;
    at = network.next;
  }
  return { first, last, asn };
}

function parseV6(csv: Buffer, names: Names): RangesV6 {
  const count = countLines(csv);
  const first = new Uint16Array(count * UNITS_V6);
  const last = new Uint16Array(count * UNITS_V6);
  const asn = new Uint32Array(count);
  let row = 0;
  for (let at = 0; at < csv.length; row += 1) {
    const firstEnd = csv.indexOf(COMMA, at);
    const lastEnd = csv.indexOf(COMMA, firstEnd + 1);
    writeUnits(first, row, BigInt(csv.toString("latin1", at, firstEnd)));
    writeUnits(last, row, BigInt(csv.toString("latin1", firstEnd + 1, lastEnd)));
    const network = readNetwork(csv, lastEnd + 1, names);
    asn[row] = network.asn;
    at = network.next;
  }
  return { first, last, asn };
}

/** Reads the rest of a line: number and name. Each name is kept once, however many ranges it has. */
function readNetwork(csv: Buffer, from: number, names: Names): { asn: number; next: number } {
  const asnEnd = csv.indexOf(COMMA, from);
  const asn = readNumber(csv, from, asnEnd);
  const newline = csv.indexOf(NEWLINE, asnEnd);
  const end = newline < 0 ? csv.length : newline;
  if (!names.has(asn)) names.set(asn, unquote(csv.toString("utf8", asnEnd + 1, end).trim()));
  return { asn, next: end + 1 };
}

function unquote(field: string): string {
  return field.startsWith('"') && field.endsWith('"')
    ? field.slice(1, -1).replaceAll('""', '"')
    : field;
}

function readNumber(csv: Buffer, from: number, end: number): number {
  let value = 0;
  for (let i = from; i < end; i += 1) value = value * 10 + ((csv[i] ?? 0) - 0x30);
  return value;
}

function writeUnits(units: Uint16Array, row: number, value: bigint): void {
  for (let i = 0; i < UNITS_V6; i += 2) {
    const high = Number((value >> BigInt(96 - i * 16)) & 0xffff_ffffn);
    units[row * UNITS_V6 + i] = high >>> 16;
    units[row * UNITS_V6 + i + 1] = high & 0xffff;
  }
}

function countLines(csv: Buffer): number {
  let count = csv.length > 0 && csv.at(-1) !== NEWLINE ? 1 : 0;
  for (let at = csv.indexOf(NEWLINE); at >= 0; at = csv.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

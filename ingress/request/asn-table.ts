import { readFile } from "node:fs/promises";
import { type IpGroups, parseIp, parseIpv4 } from "../../schemas/net/address.ts";

export type Network = { readonly asn: number; readonly name: string };

const COMMA = 0x2c;
const NEWLINE = 0x0a;
const ZERO = 0x30;
const UNITS_V6 = 8;
const UNIT_SCALE = 0x1_0000;
const DIGITS_SCALE = 1_000_000_000;

/**
 * Address ranges and their networks, from two CSV files of `first,last,asn,name` in ascending order, addresses as decimal
 * numbers. Both files are read at the start (0.3 s), because reading them later would hold up visitors.
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
  const lines = new Lines(csv);
  for (let row = 0; !lines.isAtEnd; row += 1) {
    first[row] = lines.readNumber();
    last[row] = lines.readNumber();
    asn[row] = lines.readNetwork(names);
  }
  return { first, last, asn };
}

function parseV6(csv: Buffer, names: Names): RangesV6 {
  const count = countLines(csv);
  const first = new Uint16Array(count * UNITS_V6);
  const last = new Uint16Array(count * UNITS_V6);
  const asn = new Uint32Array(count);
  const lines = new Lines(csv);
  for (let row = 0; !lines.isAtEnd; row += 1) {
    lines.readUnits(first, row);
    lines.readUnits(last, row);
    asn[row] = lines.readNetwork(names);
  }
  return { first, last, asn };
}

/** Reads field after field, each byte once: both files have 33 MB, and the start waits for them. */
class Lines {
  readonly #csv: Buffer;
  #at = 0;

  constructor(csv: Buffer) {
    this.#csv = csv;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#csv.length;
  }

  /** A decimal number below 2^53 and the comma after it. */
  readNumber(): number {
    let value = 0;
    for (;;) {
      const digit = (this.#csv[this.#at++] ?? COMMA) - ZERO;
      if (digit < 0) return value;
      value = value * 10 + digit;
    }
  }

  /** A decimal number of 128 bits and the comma after it. Numbers of nine digits are added to the units, which are zero before. */
  readUnits(units: Uint16Array, row: number): void {
    for (;;) {
      let number = 0;
      let scale = 1;
      let digit = 0;
      while (scale < DIGITS_SCALE) {
        digit = (this.#csv[this.#at++] ?? COMMA) - ZERO;
        if (digit < 0) break;
        number = number * 10 + digit;
        scale *= 10;
      }
      let carry = number;
      for (let unit = (row + 1) * UNITS_V6 - 1; unit >= row * UNITS_V6; unit -= 1) {
        const value = (units[unit] ?? 0) * scale + carry;
        carry = Math.floor(value / UNIT_SCALE);
        units[unit] = value - carry * UNIT_SCALE;
      }
      if (digit < 0) return;
    }
  }

  /** The rest of a line: number and name. Each name is kept once, however many ranges it has. */
  readNetwork(names: Names): number {
    const asn = this.readNumber();
    const from = this.#at;
    const newline = this.#csv.indexOf(NEWLINE, from);
    const end = newline < 0 ? this.#csv.length : newline;
    if (!names.has(asn)) names.set(asn, unquote(this.#csv.toString("utf8", from, end).trim()));
    this.#at = end + 1;
    return asn;
  }
}

function unquote(field: string): string {
  return field.startsWith('"') && field.endsWith('"')
    ? field.slice(1, -1).replaceAll('""', '"')
    : field;
}

function countLines(csv: Buffer): number {
  let count = csv.length > 0 && csv.at(-1) !== NEWLINE ? 1 : 0;
  // An iterator, or a search for each line, takes several times as long.
  for (let at = 0; at < csv.length; at += 1) if (csv[at] === NEWLINE) count += 1;
  return count;
}

import type { AsnColumns } from "./asn-table.ts";

const COMMA = 0x2c;
const NEWLINE = 0x0a;
const ZERO = 0x30;
const UNITS_V6 = 8;
const UNIT_SCALE = 0x1_0000;
const DIGITS_SCALE = 1_000_000_000;

type Names = Map<number, string>;

/**
 * Reads two CSV files of `first,last,asn,name` in ascending order, addresses as decimal numbers. A number has the name of its first
 * line, and IPv4 comes first.
 */
export function parseAsnCsv(csv: { readonly v4: Buffer; readonly v6: Buffer }): AsnColumns {
  const names: Names = new Map();
  const v4 = parseV4(csv.v4, names);
  const v6 = parseV6(csv.v6, names);
  return { ...v4, ...v6, ...packNames(names) };
}

/** The names as one text, in the order of their numbers. */
function packNames(names: Names): Pick<AsnColumns, "nameAsn" | "nameEnd" | "nameText"> {
  const sorted = [...names].toSorted(([one], [other]) => one - other);
  const texts = sorted.map(([, name]) => Buffer.from(name));
  let end = 0;
  return {
    nameAsn: Uint32Array.from(sorted, ([asn]) => asn),
    nameEnd: Uint32Array.from(texts, ({ length }) => (end += length)),
    nameText: Buffer.concat(texts),
  };
}

function parseV4(csv: Buffer, names: Names): Pick<AsnColumns, "v4First" | "v4Last" | "v4Asn"> {
  const count = countLines(csv);
  const first = new Uint32Array(count);
  const last = new Uint32Array(count);
  const asn = new Uint32Array(count);
  const lines = new CsvLines(csv);
  for (let row = 0; !lines.isAtEnd; row += 1) {
    first[row] = lines.readNumber();
    last[row] = lines.readNumber();
    asn[row] = lines.readNetwork(names);
  }
  return { v4First: first, v4Last: last, v4Asn: asn };
}

function parseV6(csv: Buffer, names: Names): Pick<AsnColumns, "v6First" | "v6Last" | "v6Asn"> {
  const count = countLines(csv);
  const first = new Uint16Array(count * UNITS_V6);
  const last = new Uint16Array(count * UNITS_V6);
  const asn = new Uint32Array(count);
  const lines = new CsvLines(csv);
  for (let row = 0; !lines.isAtEnd; row += 1) {
    lines.readUnits(first, row);
    lines.readUnits(last, row);
    asn[row] = lines.readNetwork(names);
  }
  return { v6First: first, v6Last: last, v6Asn: asn };
}

/** Reads field after field, each byte once: both files have 33 MB, and a start without the built table waits for them. */
class CsvLines {
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

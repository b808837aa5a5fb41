import type { NameFilter } from "./name-filter.ts";

/** Objects and lists within each other. No field of ours needs more than ten. */
export const JSON_LEVELS_MAX = 32;
/** Values of a beginning: a hundred rows with ten fields, and some more. */
export const BEGINNING_VALUES = 1_200;

/** Most unknown fields that are counted behind the named ones: reading a body to its end only to count them costs more than a text of its size. */
export const FIELDS_COUNTED_MAX = 1_000;

/** How much of a JSON text its reader can use. */
export type JsonBounds = {
  /** Values in all objects and lists. An empty object or list counts as if it had one. */
  readonly values: number;
  readonly fields?: KnownFields | undefined;
};

/** Fields that the reader knows by name, at any level. */
export type KnownFields = {
  readonly names: NameFilter;
  /** Fields with other names, in all objects together. */
  readonly othersMax: number;
};

/** Where a text can be cut: up to the byte `at`, with `closing` behind it, it is JSON, too. */
export type JsonCut = { readonly at: number; readonly closing: string };

/** Why a text is not worth parsing: more levels, values or unknown fields than its reader can use. */
export type JsonExcess =
  | { readonly kind: "levels" | "values" }
  | {
      readonly kind: "fields";
      /** Behind the first unknown fields. */
      readonly cut: JsonCut;
      /** Fields behind it, of all objects. Counting ends one above {@link FIELDS_COUNTED_MAX}. */
      readonly fieldsBehind: number;
    };

export type JsonScan = {
  readonly excess: JsonExcess | undefined;
  /** Behind the first {@link BEGINNING_VALUES} values of a text that has more. */
  readonly beginning: JsonCut | undefined;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/**
 * Looks at the bytes of a JSON text before it is parsed, which can take fifty times as long. Text that is no JSON may pass: the parser then
 * refuses it.
 */
export function scanJson(bytes: Uint8Array, bounds: JsonBounds): JsonScan {
  const tally = new Tally(bounds);
  const { length } = bytes;
  for (let at = 0; at < length; at += 1) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfText(bytes, at);
        if (tally.isNameNext) tally.addName(bytes, at + 1, end);
        at = end;
        break;
      }
      case COMMA:
        tally.goOn(at);
        break;
      case OBJECT:
        tally.open(1);
        break;
      case LIST:
        tally.open(0);
        break;
      case OBJECT_END:
      case LIST_END:
        tally.close();
        break;
      default:
        continue;
    }
    if (tally.isDecided) break;
  }
  return { excess: tally.excess(), beginning: tally.beginning };
}

/** Index of the quotation mark that ends the text which begins at `from`. */
function endOfText(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  while (at < length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

class Tally {
  readonly #bounds: JsonBounds;
  /** By level, 1 for an object. */
  readonly #kinds = new Uint8Array(JSON_LEVELS_MAX + 2);
  #level = 0;
  #values = 1;
  #unknown = 0;
  #cut: JsonCut | undefined;
  #fieldsBehind = 0;
  /** Whether a text would be the name of a field. */
  isNameNext = false;
  beginning: JsonCut | undefined;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** Whether the rest of the text cannot change the result. */
  get isDecided(): boolean {
    if (this.#level > JSON_LEVELS_MAX || this.#fieldsBehind > FIELDS_COUNTED_MAX) return true;
    return this.#values > this.#bounds.values && !this.#hasTooManyFields;
  }

  get #hasTooManyFields(): boolean {
    return this.#unknown > (this.#bounds.fields?.othersMax ?? 0);
  }

  open(kind: 0 | 1): void {
    this.#level += 1;
    this.#kinds[this.#level] = kind;
    this.#values += 1;
    this.isNameNext = kind === 1;
  }

  close(): void {
    if (this.#level > 0) this.#level -= 1;
    this.isNameNext = false;
  }

  /** At a comma. */
  goOn(at: number): void {
    this.#values += 1;
    this.isNameNext = this.#kinds[this.#level] === 1;
    if (this.#hasTooManyFields) this.#cut ??= this.#cutAt(at);
    if (this.#values > BEGINNING_VALUES) this.beginning ??= this.#cutAt(at);
  }

  addName(bytes: Uint8Array, from: number, end: number): void {
    this.isNameNext = false;
    if (this.#cut !== undefined) this.#fieldsBehind += 1;
    else if (this.#bounds.fields?.names.mayHave(bytes, from, end) === false) this.#unknown += 1;
  }

  excess(): JsonExcess | undefined {
    if (this.#level > JSON_LEVELS_MAX) return { kind: "levels" };
    if (this.#cut !== undefined) {
      return { kind: "fields", cut: this.#cut, fieldsBehind: this.#fieldsBehind };
    }
    return this.#values > this.#bounds.values ? { kind: "values" } : undefined;
  }

  /** Closes what is open. */
  #cutAt(at: number): JsonCut {
    const open = [...this.#kinds.subarray(1, this.#level + 1)].reverse();
    return { at, closing: open.map((kind) => (kind === 1 ? "}" : "]")).join("") };
  }
}

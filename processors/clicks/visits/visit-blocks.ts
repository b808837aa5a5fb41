import { DAY_MS } from "../../../schemas/time/zone.ts";

/** Entries of a block. The number of an entry is four times the number of its block, plus 0 to 3. */
export const BLOCK_ENTRIES = 4;
/** Words of 32 bits: four keys, four times, and 3 bytes an entry for the rest of the print and the class of the offer. */
const NARROW_WORDS = 11;
/** One more byte an entry, for times that are far apart. */
const WIDE_WORDS = 12;
const WIDE_BYTES_AT = 44;
const NARROW_RANGE_MS = 2 ** 32;
/** 34.8 years. */
const WIDE_RANGE_MS = 2 ** 40;
/** A narrow block holds times that are at most 47.7 days apart, so that the next times on both sides fit too. */
const NARROW_SPAN_MS = NARROW_RANGE_MS - 2 * DAY_MS;
const CLASS_BITS = 12;

/** The earliest and the latest time of some entries, UTC ms. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/**
 * Entries of visits in blocks of four. An entry is 44 bits of a print, the class of its offer (12 bits), and its time in ms since
 * `baseMs`: 11 bytes, or 12 if its segment has times that are more than 47.7 days apart. Times outside the range count as its first or
 * last ms.
 */
export class VisitBlocks {
  #words: Int32Array;
  #bytes: Uint8Array;
  blockWords = NARROW_WORDS;
  baseMs = 0;
  rangeMs = NARROW_RANGE_MS;

  constructor(words: Int32Array) {
    this.#words = words;
    this.#bytes = bytesOf(words);
  }

  get words(): Int32Array {
    return this.#words;
  }

  get isWide(): boolean {
    return this.blockWords === WIDE_WORDS;
  }

  /** Whether this time can be stored. */
  covers(atMs: number): boolean {
    return atMs >= this.baseMs && atMs < this.baseMs + this.rangeMs;
  }

  /** Makes room for times of this span and some beyond it. Must be called before entries are written; those from before become invalid. */
  layOut({ fromMs, toMs }: Span): void {
    const isWide = toMs - fromMs > NARROW_SPAN_MS;
    this.blockWords = isWide ? WIDE_WORDS : NARROW_WORDS;
    this.rangeMs = isWide ? WIDE_RANGE_MS : NARROW_RANGE_MS;
    this.baseMs = Math.floor((fromMs + toMs - this.rangeMs) / 2);
  }

  /** Makes room for blocks. Entries stay. */
  reserve(blocks: number): void {
    const words = blocks * this.blockWords;
    if (words <= this.#words.length) return;
    const larger = new Int32Array(Math.ceil(words * 1.25));
    larger.set(this.#words);
    this.#words = larger;
    this.#bytes = bytesOf(larger);
  }

  /** Becomes a copy of the first blocks of `other`. */
  copy(other: VisitBlocks, blocks: number): void {
    this.blockWords = other.blockWords;
    this.baseMs = other.baseMs;
    this.rangeMs = other.rangeMs;
    this.reserve(blocks);
    this.#words.set(other.words.subarray(0, blocks * other.blockWords));
  }

  /** Moves whole blocks. Old and new place may overlap. */
  moveBlocks(from: number, to: number, blocks: number): void {
    const size = this.blockWords;
    this.#words.copyWithin(to * size, from * size, (from + blocks) * size);
  }

  moveEntry(from: number, to: number): void {
    this.write(to, this.keyAt(from), this.tailAt(from));
    const words = this.#words;
    words[this.#timeWord(to)] = words[this.#timeWord(from)] ?? 0;
    if (!this.isWide) return;
    this.#bytes[this.#highByte(to)] = this.#bytes[this.#highByte(from)] ?? 0;
  }

  /** Writes everything but the time. `tail` is made by `tailOf`. */
  write(entry: number, key: number, tail: number): void {
    const at = (entry >>> 2) * this.blockWords;
    this.#words[at + (entry & 3)] = key;
    const byte = (at + 8) * 4 + (entry & 3) * 3;
    const bytes = this.#bytes;
    bytes[byte] = tail >>> 16;
    bytes[byte + 1] = tail >>> 8;
    bytes[byte + 2] = tail;
  }

  keyAt(entry: number): number {
    return this.#words[(entry >>> 2) * this.blockWords + (entry & 3)] ?? 0;
  }

  tailAt(entry: number): number {
    const byte = ((entry >>> 2) * this.blockWords + 8) * 4 + (entry & 3) * 3;
    const bytes = this.#bytes;
    return ((bytes[byte] ?? 0) << 16) | ((bytes[byte + 1] ?? 0) << 8) | (bytes[byte + 2] ?? 0);
  }

  /** UTC ms. */
  timeAt(entry: number): number {
    const high = this.isWide ? (this.#bytes[this.#highByte(entry)] ?? 0) : 0;
    const low = (this.#words[this.#timeWord(entry)] ?? 0) >>> 0;
    return this.baseMs + high * NARROW_RANGE_MS + low;
  }

  setTime(entry: number, atMs: number): void {
    const sinceBase = Math.max(0, Math.min(Math.floor(atMs) - this.baseMs, this.rangeMs - 1));
    this.#words[this.#timeWord(entry)] = sinceBase;
    if (this.isWide) this.#bytes[this.#highByte(entry)] = Math.floor(sinceBase / NARROW_RANGE_MS);
  }

  #timeWord(entry: number): number {
    return (entry >>> 2) * this.blockWords + BLOCK_ENTRIES + (entry & 3);
  }

  #highByte(entry: number): number {
    return (entry >>> 2) * WIDE_WORDS * 4 + WIDE_BYTES_AT + (entry & 3);
  }
}

/** The last 12 bits of a print and the class of its offer in 24 bits. */
export function tailOf(rest: number, offerClass: number): number {
  return (rest << CLASS_BITS) | offerClass;
}

export function restOf(tail: number): number {
  return tail >>> CLASS_BITS;
}

export function classOf(tail: number): number {
  return tail & ((1 << CLASS_BITS) - 1);
}

function bytesOf(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

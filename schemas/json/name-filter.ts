const SLOTS = 4_096;
/** Of the hash FNV-1a. */
const PRIME = 0x01_00_01_93;

/** Recognises names of fields by their bytes, without making a text of each. One unknown name in some tens passes for known. */
export class NameFilter {
  readonly #slots = new Uint8Array(SLOTS);
  readonly #seed: number;

  /** While nobody knows `seed`, nobody can choose names that pass. */
  constructor(names: Iterable<string>, seed: number) {
    this.#seed = seed;
    const encoder = new TextEncoder();
    for (const name of names) {
      const bytes = encoder.encode(name);
      this.#slots[this.#slotOf(bytes, 0, bytes.length)] = 1;
    }
  }

  /** Whether the bytes from `from` to before `end` may be a known name. */
  mayHave(bytes: Uint8Array, from: number, end: number): boolean {
    return this.#slots[this.#slotOf(bytes, from, end)] === 1;
  }

  #slotOf(bytes: Uint8Array, from: number, end: number): number {
    let hash = this.#seed;
    for (let at = from; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
    return (hash ^ (hash >>> 16)) & (SLOTS - 1);
  }
}

/**
 * A cache of at most `entriesMax` values, in two generations: used entries stay, and entries that were not used while half of the
 * cache filled up are forgotten. A look-up costs one or two Map reads and no bookkeeping.
 */
export class BoundedCache<Value extends object> {
  readonly #generationMax: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(entriesMax: number) {
    this.#generationMax = Math.max(1, Math.floor(entriesMax / 2));
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#put(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    this.#put(detached(key), value);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #put(key: string, value: Value): void {
    if (this.#young.size >= this.#generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}

/** Copies a text: a slice of a request would keep the whole request in memory. */
export function detached(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

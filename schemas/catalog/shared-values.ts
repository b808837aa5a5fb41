const VALUES_MAX = 20_000;

/**
 * Returns the same object for equal values. Thousands of offers have the same few caps and targetings, and what is computed from such
 * an object is then computed once. The objects are frozen, because a change would affect all records that share them.
 */
export class SharedValues {
  readonly #known = new Map<string, object>();

  of<T extends object>(value: T): T {
    const text = JSON.stringify(value);
    const known = this.#known.get(text);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one instance keeps values of one type, and its text is equal
    if (known !== undefined) return known as T;
    // Unused values stay until then. After the reset, later values are merely not shared with earlier ones.
    if (this.#known.size >= VALUES_MAX) this.#known.clear();
    this.#known.set(text, deepFreeze(value));
    return value;
  }
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null) deepFreeze(part);
  }
  return Object.freeze(value);
}

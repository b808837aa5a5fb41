const VALUES_MAX = 20_000;

/**
 * Gives equal values one object: thousands of offers have the same few caps and targeting, and what is worked out from such an
 * object is worked out once. The objects are frozen, since a change for one of the holders would be one for all.
 */
export class SharedValues {
  readonly #known = new Map<string, object>();

  of<T extends object>(value: T): T {
    const text = JSON.stringify(value);
    const known = this.#known.get(text);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one instance keeps values of one type, and its text is equal
    if (known !== undefined) return known as T;
    // Values that no record has any more stay until then; forgetting all of them costs only that later ones are not shared.
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

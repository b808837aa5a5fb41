/** Asks with one request for all keys of the same turn of the event loop, at most `max` at once. */
export class Gathered<Key, Value> {
  readonly #load: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>;
  readonly #max: number;
  #waiting:
    | { readonly keys: Set<Key>; readonly answer: Promise<ReadonlyMap<Key, Value>> }
    | undefined;

  constructor(max: number, load: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Value>>) {
    this.#max = max;
    this.#load = load;
  }

  /** Undefined if the answer has nothing for the key. */
  async ask(key: Key): Promise<Value | undefined> {
    const batch =
      this.#waiting === undefined || this.#waiting.keys.size >= this.#max
        ? this.#open()
        : this.#waiting;
    batch.keys.add(key);
    return (await batch.answer).get(key);
  }

  #open(): { readonly keys: Set<Key>; readonly answer: Promise<ReadonlyMap<Key, Value>> } {
    const keys = new Set<Key>();
    const answer = new Promise<void>((resolve) => setTimeout(resolve)).then(() => {
      if (this.#waiting?.keys === keys) this.#waiting = undefined;
      return this.#load([...keys]);
    });
    this.#waiting = { keys, answer };
    return this.#waiting;
  }
}

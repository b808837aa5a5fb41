/**
 * Records that are looked up by the id of their owner and removed by their own id. An owner's only record is stored without an array,
 * because most owners have just one.
 */
export class OwnedRecords<T extends { readonly id: number }> {
  readonly #byOwner = new Map<number, T | readonly T[]>();
  readonly #ownerById = new Map<number, number>();

  /** The records of an owner, in the order in which they were added. */
  of(owner: number): readonly T[] {
    const known = this.#byOwner.get(owner);
    if (known === undefined) return [];
    return isList(known) ? known : [known];
  }

  add(owner: number, record: T): void {
    const others = this.of(owner);
    this.#byOwner.set(owner, others.length === 0 ? record : [...others, record]);
    this.#ownerById.set(record.id, owner);
  }

  remove(id: number): void {
    const owner = this.#ownerById.get(id);
    if (owner === undefined) return;
    const [first, ...rest] = this.of(owner).filter((record) => record.id !== id);
    if (first === undefined) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, rest.length === 0 ? first : [first, ...rest]);
    this.#ownerById.delete(id);
  }

  *all(): Generator<T> {
    for (const owner of this.#byOwner.keys()) yield* this.of(owner);
  }
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

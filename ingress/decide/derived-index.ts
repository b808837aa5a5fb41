import type { Catalog } from "../../schemas/catalog/catalog.ts";

/**
 * An index over one kind of catalog record. It is built at first use, and again after one of its records has changed. After
 * changes of other kinds the records are only compared, which is much cheaper than building.
 */
export function derivedIndex<Value, Index>(
  recordsOf: (catalog: Catalog) => ReadonlyMap<number, Value>,
  build: (records: readonly Value[]) => Index,
): (catalog: Catalog) => Index {
  const built = new WeakMap<
    Catalog,
    { revision: number; records: readonly Value[]; index: Index }
  >();
  return (catalog) => {
    const known = built.get(catalog);
    if (known !== undefined && known.revision === catalog.revision) return known.index;
    const current = recordsOf(catalog);
    if (known !== undefined && isSame(known.records, current)) {
      known.revision = catalog.revision;
      return known.index;
    }
    const records = [...current.values()];
    const index = build(records);
    built.set(catalog, { revision: catalog.revision, records, index });
    return index;
  };
}

function isSame<Value>(records: readonly Value[], current: ReadonlyMap<number, Value>): boolean {
  if (records.length !== current.size) return false;
  let i = 0;
  for (const record of current.values()) {
    if (record !== records[i]) return false;
    i += 1;
  }
  return true;
}

/** Computes a value from a record once. Records of the catalog are never altered: a change replaces them. */
export function compiled<Source extends object, Compiled>(
  compile: (record: Source) => Compiled,
): (record: Source) => Compiled {
  const known = new WeakMap<Source, Compiled>();
  return (record) => {
    const remembered = known.get(record);
    if (remembered !== undefined) return remembered;
    const fresh = compile(record);
    known.set(record, fresh);
    return fresh;
  };
}

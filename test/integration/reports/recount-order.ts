/** Nulls come last in both directions. */
export function compareSortValues(
  a: bigint | string | number | null,
  b: bigint | string | number | null,
  descending: boolean,
): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return (descending ? -1 : 1) * compare(a, b);
}

/** Compares the first dimension that differs. */
export function compareRowKeys(
  a: readonly (string | number)[],
  b: readonly (string | number)[],
): number {
  for (const [index, value] of a.entries()) {
    const difference = compare(value, b[index] ?? "");
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Text by its bytes, as ClickHouse orders it. */
function compare(a: bigint | string | number, b: bigint | string | number): number {
  if (typeof a === "string" && typeof b === "string")
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Positions of one producer in one lane. */
type Sequence = { readonly lane: number; readonly producer: number; readonly epoch: number };

/** Rows in ClickHouse. `end` is the position after the last one. */
export type StoredPositions = Sequence & { readonly rows: number; readonly end: number };

/** Notes in Postgres: how many positions were settled, how many were lost, and the position after the last lost one. */
export type NotedPositions = Sequence & {
  readonly settled: number;
  readonly lost: number;
  readonly end: number;
};

/**
 * Whether each known position has exactly one row or is noted as lost, in all lanes and epochs of a producer. Positions begin at 0. Above the
 * last row only the notes tell what must be there.
 */
export function isWhole(
  stored: readonly StoredPositions[],
  noted: readonly NotedPositions[],
): boolean {
  const rows = new Map(stored.map((one) => [keyOf(one), one]));
  const notes = new Map(noted.map((one) => [keyOf(one), one]));
  return [...new Set([...rows.keys(), ...notes.keys()])].every((key) => {
    const { rows: count = 0, end = 0 } = rows.get(key) ?? {};
    const { settled = 0, lost = 0, end: lostEnd = 0 } = notes.get(key) ?? {};
    const isCovered = settled === Math.max(end, lostEnd, settled);
    return isCovered && count + lost === settled;
  });
}

function keyOf({ lane, epoch }: Sequence): string {
  return `${lane}.${epoch}`;
}

import type { Figure } from "../../format/figure.ts";
import { heightOf } from "../../plots/pixels.ts";

const MOVES = 5;

/**
 * The rows whose figure moved furthest, up or down. What did not move is left out. The share of the change would put rows first that went
 * from one click to three.
 */
export function largestMoves<Row>(
  rows: readonly Row[],
  figuresOf: (row: Row) => readonly (Figure | undefined)[],
): Row[] {
  return rows
    .map((row) => {
      const [now = 0, before = 0] = figuresOf(row).map((figure) => heightOf(figure) ?? 0);
      return { row, by: Math.abs(now - before) };
    })
    .filter(({ by }) => by > 0)
    .sort((one, other) => other.by - one.by)
    .slice(0, MOVES)
    .map(({ row }) => row);
}

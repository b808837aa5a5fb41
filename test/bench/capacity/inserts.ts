import { CODE } from "./code-limits.ts";
import type { Inputs } from "./inputs.ts";

/** How long an insert takes. Bench writer: the rate of rows that are already serialised, and a fixed cost of as many rows. */
function insertSeconds(rows: number, inputs: Inputs): number {
  return (rows + inputs.insertRowsEquivalent) / inputs.insertedRowsPerSecond;
}

/** Rows of an insert of a lane: those of an interval, as many as are inserted at once, or those that arrive during an insert. */
function rowsPerInsert(rowsPerSecond: number, inputs: Inputs): number {
  const isSmall = (rowsPerSecond * CODE.insertIntervalMs) / 1_000 < CODE.largeInsertRows;
  const intervalMs = isSmall ? CODE.insertIntervalMs : CODE.largeInsertIntervalMs;
  const ofInterval = Math.min(CODE.insertRowsAtOnce, (rowsPerSecond * intervalMs) / 1_000);
  const share = rowsPerSecond / inputs.insertedRowsPerSecond;
  if (share >= 1) return CODE.insertRowsMax;
  const backToBack = (share * inputs.insertRowsEquivalent) / (1 - share);
  return Math.min(CODE.insertRowsMax, Math.max(ofInterval, backToBack));
}

/**
 * Rows of one lane that were read and are not stored, at their most: those of the running insert and those that arrived meanwhile.
 * Above the rate of the writer they grow without end.
 */
export function unstoredRowsMax(rowsPerSecond: number, inputs: Inputs): number {
  if (rowsPerSecond >= inputs.writerRowsPerSecond) return Number.POSITIVE_INFINITY;
  const rows = rowsPerInsert(rowsPerSecond, inputs);
  return rows + rowsPerSecond * insertSeconds(rows, inputs);
}

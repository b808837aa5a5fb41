import type { ReportRow } from "../client/reports.ts";
import { valueWords } from "../format/value-words.ts";

/** Shown for rows that a dimension does not apply to, or whose value nobody sent. */
const NONE = "(none)";

/** What a person calls the value of a dimension in this row. */
export function labelOf(row: ReportRow, dimension: string): string {
  const label = row[`${dimension}_label`] ?? row[dimension];
  if (label === null || label === undefined || label === "") return NONE;
  return valueWords(dimension, String(label));
}

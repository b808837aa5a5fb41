import type { ReportRow } from "../client/reports.ts";
import { heightOf } from "../plots/pixels.ts";

/** Whether the compared range has anything. In the first month of an account each figure would stand beside a zero. `totals` of the report. */
export function hasCompared({ previous }: Pick<ReportRow, "previous">): boolean {
  return Object.values(previous ?? {}).some((figure) => (heightOf(figure) ?? 0) !== 0);
}

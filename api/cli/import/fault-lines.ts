import type { FaultList } from "../../workspace/imports/file/fault-list.ts";

/** Faulty rows whose faults are shown. */
export const ROWS_SHOWN_MAX = 50;

/** One line for each fault of the first faulty rows. */
export function faultLines({ kept, rows }: FaultList): string[] {
  const lines = kept.flatMap(({ row, faults, more }) => [
    ...faults.map(([field, fault]) =>
      field === "" ? `  row ${row} ${fault}` : `  row ${row}: ${field}: ${fault}`,
    ),
    ...(more > 0 ? [`  row ${row}: and ${more} more`] : []),
  ]);
  const left = rows.size - kept.length;
  return left > 0 ? [...lines, `  and faults in ${left} more rows`] : lines;
}

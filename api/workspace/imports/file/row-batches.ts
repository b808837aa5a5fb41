import type { FileRow } from "./file-row.ts";

/** Groups rows, at most `rowsMax` together, so that one look-up serves a whole group. */
export async function* rowBatches(
  rows: AsyncIterable<FileRow>,
  rowsMax: number,
): AsyncGenerator<FileRow[]> {
  let batch: FileRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < rowsMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

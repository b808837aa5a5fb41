import type { FileRow } from "./file-rows.ts";

const ROWS_MAX = 500;

/** Groups rows, so that one look-up serves a whole group. */
export async function* rowBatches(rows: AsyncIterable<FileRow>): AsyncGenerator<FileRow[]> {
  let batch: FileRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < ROWS_MAX) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

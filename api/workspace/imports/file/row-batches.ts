import type { FileRow } from "./file-row.ts";

/** One look-up, and one look at the rights of whoever imports, serves so many rows. */
const BATCH_ROWS = 100;

export async function* rowBatches(rows: AsyncIterable<FileRow>): AsyncGenerator<FileRow[]> {
  let batch: FileRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

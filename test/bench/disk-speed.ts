import { randomBytes } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";

const FILE_BYTES = 256 * 1024 ** 2;
/** The journal syncs about this much at once at 60,000 records/s. */
const BYTES_PER_SYNC = 1024 ** 2;

/** How many records of this size a file in the folder can take a second, synced as often as a busy journal. */
export async function diskRecordsPerSecond(folder: string, recordBytes: number): Promise<number> {
  const path = join(folder, "disk-speed");
  const bytes = randomBytes(BYTES_PER_SYNC);
  const file = await open(path, "w");
  try {
    const startedAtMs = performance.now();
    for (let written = 0; written < FILE_BYTES; written += bytes.length) {
      await file.write(bytes);
      await file.datasync();
    }
    const seconds = (performance.now() - startedAtMs) / 1_000;
    return FILE_BYTES / recordBytes / seconds;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

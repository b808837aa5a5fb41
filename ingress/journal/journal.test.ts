import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Journal } from "./journal.ts";
import { JournalSegments } from "./journal-segments.ts";

function unexpected(): never {
  throw new Error("the disk takes every record");
}

test("each record is synced soon after it was taken, also the first after a pause (P8)", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-journal-"));
  let syncs = 0;
  const journal = Journal.open({
    folder,
    epoch: 1,
    segments: new JournalSegments(),
    sync: "interval",
    reserveBytes: 0,
    onTaken: () => undefined,
    onDiskFault: unexpected,
    onSyncFault: unexpected,
    times: {
      appended: () => undefined,
      synced: () => {
        syncs += 1;
      },
    },
  });
  try {
    for (const number of [1, 2, 3]) {
      expect(journal.append({ lane: 0, line: `{"number":${number}}` })).toBeUndefined();
      await expect.poll(() => syncs).toBe(number);
    }
  } finally {
    await journal.close();
    rmSync(folder, { recursive: true });
  }
});

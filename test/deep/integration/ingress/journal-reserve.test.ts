import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeRecord } from "../../../../ingress/encode-record.ts";
import { Journal } from "../../../../ingress/journal/journal.ts";
import { JournalSegments } from "../../../../ingress/journal/journal-segments.ts";
import { aClick } from "../../../samples/a-click-record.ts";

const MIB = 1024 ** 2;
const DISK_MIB = 64;
const RECORDS_MAX = 200_000;

let disk: string;
let isMounted: boolean;

beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), "tracker-reserve-"));
  const size = `size=${DISK_MIB}m`;
  isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", size, "tmpfs", disk]).status === 0;
});

afterEach(() => {
  // Lazily: a segment may still be closing.
  if (isMounted) spawnSync("umount", ["-l", disk]);
  rmdirSync(disk);
});

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}

/** Fills the disk with a journal; returns the bytes that are left, and the fault of the record that did not fit. */
async function fill(reserveBytes: number | undefined): Promise<{ left: number; fault: unknown }> {
  const folder = mkdtempSync(join(disk, "journal-"));
  let fault: unknown;
  const journal = Journal.open({
    folder,
    epoch: 1,
    segments: new JournalSegments(),
    sync: "none",
    reserveBytes,
    onTaken: () => undefined,
    onDiskFault: (_position, error) => {
      fault = error;
      return (done) => done();
    },
    onSyncFault: () => undefined,
  });
  const line = encodeRecord(aClick({ sub1: "x".repeat(1_000) }));
  for (let count = 0; count < RECORDS_MAX && fault === undefined; count += 1) {
    journal.append({ lane: 0, line });
  }
  // Measured before the unused rest of the last segment is freed.
  const left = freeBytes();
  await journal.close();
  return { left, fault };
}

test("a full journal leaves a quarter of its disk free and reports the records it cannot take (#22, P6)", async (context) => {
  context.skip(!isMounted, "this user cannot mount a file system");
  const { left, fault } = await fill(undefined);
  expect(String(fault)).toContain("no room is left");
  expect(left).toBeGreaterThanOrEqual((DISK_MIB / 4) * MIB);
  expect(left).toBeLessThan((DISK_MIB / 4 + 1) * MIB);
});

test("JOURNAL_RESERVE_BYTES is the space that stays free; 0 leaves nothing (#22)", async (context) => {
  context.skip(!isMounted, "this user cannot mount a file system");
  mkdirSync(join(disk, "others"));
  const some = await fill(40 * MIB);
  expect(some.left).toBeGreaterThanOrEqual(40 * MIB);
  const nothing = await fill(0);
  expect(nothing.left).toBeLessThan(2 * MIB);
});

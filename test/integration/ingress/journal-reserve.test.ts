import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeRecord } from "../../../ingress/encode-record.ts";
import { Journal } from "../../../ingress/journal/journal.ts";
import { JournalSegments } from "../../../ingress/journal/journal-segments.ts";
import { aClick } from "../../samples/a-click-record.ts";

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
  // Lazily: a segment is closed beside the test.
  if (isMounted) spawnSync("umount", ["-l", disk]);
  rmdirSync(disk);
});

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
}

/** Fills the disk as far as a journal does; answers what is left of it, and what the journal did with the next record. */
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
    onDiskFault: (_place, error) => {
      fault = error;
      return (done) => done();
    },
    onSyncFault: () => undefined,
  });
  const line = encodeRecord(aClick({ sub1: "x".repeat(1_000) }));
  for (let count = 0; count < RECORDS_MAX && fault === undefined; count += 1) {
    journal.append({ lane: 0, line });
  }
  // Before the rest of the last segment is given back.
  const left = freeBytes();
  await journal.close();
  return { left, fault };
}

test("a full journal leaves a share of its disk to others, then says so and takes the direct way (#22, P6)", async (context) => {
  context.skip(!isMounted, "a file system of its own cannot be mounted by this user");
  const { left, fault } = await fill(undefined);
  expect(String(fault)).toContain("no room is left");
  expect(left).toBeGreaterThanOrEqual((DISK_MIB / 4) * MIB);
  expect(left).toBeLessThan((DISK_MIB / 4 + 1) * MIB);
});

test("JOURNAL_RESERVE_BYTES says how much that is; 0 leaves nothing (#22)", async (context) => {
  context.skip(!isMounted, "a file system of its own cannot be mounted by this user");
  mkdirSync(join(disk, "others"));
  const some = await fill(40 * MIB);
  expect(some.left).toBeGreaterThanOrEqual(40 * MIB);
  const nothing = await fill(0);
  expect(nothing.left).toBeLessThan(2 * MIB);
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { endedSegmentPaths } from "./segment-files.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tracker-segments-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("segments of an epoch are found in their order, also beyond the millionth (P1)", async () => {
  const names = ["700000000-000002.wal", "700000000-999999.wal", "700000000-1000000.wal"];
  for (const name of [...names, "700000001-000001.wal", "pixels-000001.wal", "700000000-1.wal"])
    writeFileSync(join(folder, name), "");
  expect(await endedSegmentPaths(folder, 700_000_001)).toEqual(
    names.map((name) => ({ path: join(folder, name), epoch: 700_000_000 })),
  );
});

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { decodeSegment, FrameBuffer } from "./frame.ts";
import { isMappable, openSegmentWriter } from "./segment-writer.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Segments by system calls everywhere, by memory where this machine's file system allows it. */
const ways = [false, ...(isMappable(tmpdir()) ? [true] : [])];

test.each(ways)(
  "mapped %s: what was put is in the file at once, and it ends with the last frame",
  async (isMapped) => {
    const folder = mkdtempSync(join(tmpdir(), "tracker-segment-"));
    folders.push(folder);
    const path = join(folder, "1-000001.wal");
    const writer = openSegmentWriter(path, isMapped);
    const frame = new FrameBuffer();
    const line = JSON.stringify({ sub1: "ä".repeat(30_000) });
    let position = 0;
    let bytes = 0;
    for (
      ;
      writer.put(frame.encode({ lane: 1, position, line }).bytes, frame.length);
      position += 1
    ) {
      bytes += frame.length;
    }
    const { records, damagedBytes } = decodeSegment(readFileSync(path));
    expect([records.length, damagedBytes]).toEqual([position, 0]);
    expect(records.at(-1)).toEqual({ lane: 1, position: position - 1, line });
    await new Promise<void>((resolve, reject) => {
      writer.sync((error) => (error === null ? resolve() : reject(error)));
    });
    writer.close();
    await vi.waitFor(() => expect(statSync(path).size).toBe(bytes));
  },
);

test.each(ways)("mapped %s: a segment that is there already is never written over", (isMapped) => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-segment-"));
  folders.push(folder);
  const path = join(folder, "1-000001.wal");
  openSegmentWriter(path, isMapped).close();
  expect(() => openSegmentWriter(path, isMapped)).toThrow("EEXIST");
});

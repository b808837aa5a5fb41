import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { decodeSegment, FrameBuffer } from "./frame.ts";
import {
  isMappable,
  mappedMedium,
  type SegmentMedium,
  type SegmentWriter,
  writtenMedium,
} from "./segment-writer.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** System calls work everywhere, mapped memory only where this machine's file system allows it. */
const media: [string, (room?: () => number) => SegmentMedium][] = [
  ["written", writtenMedium],
  ...(isMappable(tmpdir())
    ? [["mapped", mappedMedium] satisfies [string, (room?: () => number) => SegmentMedium]]
    : []),
];

async function synced(writer: SegmentWriter): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    writer.sync((error) => (error === null ? resolve() : reject(error)));
  });
}

test.each(media)(
  "%s: what was put is in the file at once, and it ends with the last frame",
  async (_, open) => {
    const folder = mkdtempSync(join(tmpdir(), "tracker-segment-"));
    folders.push(folder);
    const path = join(folder, "1-000001.wal");
    const medium = open();
    const writer = medium.open(path);
    const frame = new FrameBuffer();
    const line = JSON.stringify({ sub1: `ä${"a".repeat(60_000)}` });
    let position = 0;
    let bytes = 0;
    for (
      ;
      writer.put(frame.encode({ lane: 1, position, line }).bytes, frame.length);
      position += 1
    ) {
      bytes += frame.length;
      // Early: on a disk that others use, syncing a whole segment takes long.
      if (position === 0) await synced(writer);
    }
    const { records, damagedBytes } = decodeSegment(readFileSync(path));
    expect([records.length, damagedBytes]).toEqual([position, 0]);
    expect(records.at(-1)).toEqual({ lane: 1, position: position - 1, line });
    writer.close();
    medium.close();
    await vi.waitFor(() => expect(statSync(path).size).toBe(bytes));
  },
);

test.each(media)("%s: an existing segment is never overwritten", (_, open) => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-segment-"));
  folders.push(folder);
  const path = join(folder, "1-000001.wal");
  const medium = open();
  medium.open(path).close();
  expect(() => medium.open(path)).toThrow("EEXIST");
  medium.close();
});

test.each(media)(
  "%s: a segment takes no more than the free room, and none is made without room (#22)",
  (_, open) => {
    const folder = mkdtempSync(join(tmpdir(), "tracker-segment-"));
    folders.push(folder);
    let room = 3 * 1024 ** 2;
    const medium = open(() => room);
    const writer = medium.open(join(folder, "1-000001.wal"));
    const frame = new FrameBuffer().encode({ lane: 1, position: 0, line: "a".repeat(60_000) });
    let bytes = 0;
    while (writer.put(frame.bytes, frame.length)) bytes += frame.length;
    expect(bytes).toBeLessThanOrEqual(room);
    expect(bytes).toBeGreaterThan(1024 ** 2);
    writer.close();
    room = 1024 ** 2 - 1;
    expect(() => medium.open(join(folder, "1-000002.wal"))).toThrow("no room is left");
    medium.close();
  },
);

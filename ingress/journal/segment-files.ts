import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { decodeSegment, type JournalRecord } from "./frame.ts";
import type { SegmentIndex } from "./journal-segments.ts";

const SEGMENT_NAME = /^(\d{1,10})-(\d{6,10})\.wal$/;

/** A segment of an ended epoch, and the size of its damage. */
export type EndedSegment = SegmentIndex & { readonly damagedBytes: number };

/** Paths of the segments of all epochs before `epoch`, in the order in which they were written. */
export async function endedSegmentPaths(
  folder: string,
  epoch: number,
): Promise<{ path: string; epoch: number }[]> {
  const found = (await readdir(folder)).flatMap((name) => {
    const match = SEGMENT_NAME.exec(name);
    return match === null ? [] : [{ name, epoch: Number(match[1]), number: Number(match[2]) }];
  });
  return found
    .filter((segment) => segment.epoch < epoch)
    .sort((a, b) => a.epoch - b.epoch || a.number - b.number)
    .map((segment) => ({ path: join(folder, segment.name), epoch: segment.epoch }));
}

/** Reads one whole segment: at most 16 MiB and one frame. */
export async function readSegment(path: string): Promise<{
  records: readonly JournalRecord[];
  damagedBytes: number;
}> {
  return decodeSegment(await readFile(path));
}

export async function indexSegment(path: string, epoch: number): Promise<EndedSegment> {
  const { records, damagedBytes } = await readSegment(path);
  const lanes = new Map<number, { first: number; next: number }>();
  for (const { lane, position } of records) {
    const range = lanes.get(lane);
    if (range === undefined) lanes.set(lane, { first: position, next: position + 1 });
    else range.next = Math.max(range.next, position + 1);
  }
  return { path, epoch, lanes, damagedBytes };
}

export async function removeSegment(path: string): Promise<void> {
  await rm(path, { force: true });
}

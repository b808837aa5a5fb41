import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameBuffer, type JournalRecord } from "../../ingress/journal/frame.ts";
import { readSegment } from "../../ingress/journal/segment-files.ts";
import { IS_FULL, reportCases } from "./report-cases.ts";

const RUNS = IS_FULL ? 10_000 : 1_000;

/** Damage by a bad disk: a cut at any point, and changed bytes anywhere. */
const damage = fc.record({
  cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  flips: fc.array(
    fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.integer({ min: 1, max: 255 }),
    ),
    { maxLength: 5 },
  ),
});
const counts = fc.integer({ min: 1, max: 90 });

test("a damaged journal never stops the reader or adds a click; only damaged frames are lost (P7)", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-p07-"));
  const path = join(folder, "1-000001.wal");
  try {
    await fc.assert(
      fc.asyncProperty(counts, damage, async (count, { cut, flips }) => {
        const { frames, records } = journalOf(count);
        const whole = Buffer.concat(frames);
        const end = cut === null ? whole.length : Math.floor(whole.length * cut);
        const bytes = Buffer.from(whole.subarray(0, end));
        for (const [where, mask] of flips) {
          const at = Math.floor(bytes.length * where);
          if (bytes.length === 0) continue;
          bytes[at] = (bytes[at] ?? 0) ^ mask;
        }
        writeFileSync(path, bytes);
        const written = new Set(records.map(keyOf));
        const read = (await readSegment(path)).records.map(keyOf);
        const readOnce = new Set(read);
        const repeated = read.length - readOnce.size;
        const added = [...readOnce].filter((key) => !written.has(key)).length + repeated;
        const intact = intactRecords(frames, records, (at) => at >= end || bytes[at] !== whole[at]);
        const missing = intact.filter((record) => !readOnce.has(keyOf(record))).length;
        reportCases(context, { cases: 1, violations: added + missing });
        expect({ added, missing }).toEqual({ added: 0, missing: 0 });
      }),
      { numRuns: RUNS },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function keyOf({ lane, position, line }: JournalRecord): string {
  return `${lane} ${position} ${line}`;
}

/** Records of the frames that have no missing or changed byte. */
function intactRecords(
  frames: readonly Buffer[],
  records: readonly JournalRecord[],
  isDamaged: (at: number) => boolean,
): JournalRecord[] {
  let start = 0;
  return frames.flatMap((frame, index) => {
    const from = start;
    start += frame.length;
    for (let at = from; at < start; at += 1) if (isDamaged(at)) return [];
    const record = records[index];
    return record === undefined ? [] : [record];
  });
}

function journalOf(count: number): { frames: Buffer[]; records: JournalRecord[] } {
  const buffer = new FrameBuffer();
  const records = Array.from({ length: count }, (_, position): JournalRecord => {
    const line = JSON.stringify({
      click_id: String(position).padStart(32, "0"),
      sub1: "ä\u2028{}",
    });
    return { lane: position % 4, position, line };
  });
  const frames = records.map((record) => {
    const { bytes, length } = buffer.encode(record);
    return Buffer.from(bytes.subarray(0, length));
  });
  return { records, frames };
}

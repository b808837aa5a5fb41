import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeSegment, FrameBuffer, type JournalRecord } from "./frame.ts";

const RUNS = 100;

/** Texts of records, one longer than the initial memory of a frame. */
const texts = fc.array(
  fc.oneof(
    { weight: 60, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
    fc.constant("ä".repeat(70_000)),
  ),
  { minLength: 1, maxLength: 24 },
);

function journalOf(contents: readonly string[]): { frames: Buffer[]; records: JournalRecord[] } {
  const buffer = new FrameBuffer();
  const records = contents.map((text, position) => ({
    lane: position % 2 === 0 ? 1 : 100,
    position: position * 1_000_000_007,
    line: JSON.stringify({ text }),
  }));
  const frames = records.map((record) => {
    const { bytes, length } = buffer.encode(record);
    return Buffer.from(bytes.subarray(0, length));
  });
  return { records, frames };
}

test("a whole journal reads back as written, also with the zeros of its reserve at its end", () => {
  fc.assert(
    fc.property(texts, fc.nat(200_000), (contents, zeros) => {
      const { frames, records } = journalOf(contents);
      const content = decodeSegment(Buffer.concat([...frames, Buffer.alloc(zeros)]));
      expect(content.records).toEqual(records);
      expect(content.damagedBytes).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test("a journal cut anywhere loses the cut frame and nothing before it (P7)", () => {
  fc.assert(
    fc.property(texts, fc.double({ min: 0, max: 1, noNaN: true }), (contents, where) => {
      const { frames, records } = journalOf(contents);
      const whole = Buffer.concat(frames);
      const cut = Math.floor(whole.length * where);
      let bytes = 0;
      const kept = records.filter((_, index) => (bytes += frames[index]?.length ?? 0) <= cut);
      expect(decodeSegment(whole.subarray(0, cut)).records).toEqual(kept);
    }),
    { numRuns: RUNS },
  );
});

test("a flipped bit anywhere costs only its frame, is reported, and adds no record (P7)", () => {
  fc.assert(
    fc.property(
      texts,
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.integer({ min: 0, max: 7 }),
      (contents, where, bit) => {
        const { frames, records } = journalOf(contents);
        const bytes = Buffer.concat(frames);
        const at = Math.floor(bytes.length * where);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        let start = 0;
        const damaged = frames.findIndex((frame) => {
          start += frame.length;
          return at < start;
        });
        const content = decodeSegment(bytes);
        expect(content.records).toEqual(records.filter((_, index) => index !== damaged));
        expect(content.damagedBytes).toBeGreaterThan(0);
      },
    ),
    { numRuns: RUNS },
  );
});

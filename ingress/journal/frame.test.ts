import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeSegment, encodeFrame, type JournalRecord, recordLine } from "./frame.ts";

const RUNS = 300;

/** Frames of one or more records each, as turns of the event loop write them. */
const turns = fc.array(fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 12,
});

function journalOf(texts: readonly (readonly string[])[]): {
  frames: Buffer[];
  records: JournalRecord[][];
} {
  let position = 0;
  const records = texts.map((turn) =>
    turn.map((text) => ({ lane: 1, position: position++, line: JSON.stringify({ text }) })),
  );
  return {
    records,
    frames: records.map((turn) => encodeFrame(turn.map(recordLine).join(""))),
  };
}

test("a whole journal reads back as it was written, also with the zeros of its reserve behind it", () => {
  fc.assert(
    fc.property(turns, fc.nat(64), (texts, zeros) => {
      const { frames, records } = journalOf(texts);
      const content = decodeSegment(Buffer.concat([...frames, Buffer.alloc(zeros)]));
      expect(content.records).toEqual(records.flat());
      expect(content.damagedBytes).toBe(0);
    }),
    { numRuns: RUNS },
  );
});

test("P7: a journal cut anywhere loses the cut frame and nothing before it", () => {
  fc.assert(
    fc.property(turns, fc.double({ min: 0, max: 1, noNaN: true }), (texts, where) => {
      const { frames, records } = journalOf(texts);
      const whole = Buffer.concat(frames);
      const cut = Math.floor(whole.length * where);
      let bytes = 0;
      const kept = records.filter((_, index) => (bytes += frames[index]?.length ?? 0) <= cut);
      expect(decodeSegment(whole.subarray(0, cut)).records).toEqual(kept.flat());
    }),
    { numRuns: RUNS },
  );
});

test("P7: a flipped bit anywhere costs the frame it is in, is reported, and invents nothing", () => {
  fc.assert(
    fc.property(
      turns,
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.integer({ min: 0, max: 7 }),
      (texts, where, bit) => {
        const { frames, records } = journalOf(texts);
        const bytes = Buffer.concat(frames);
        const at = Math.floor(bytes.length * where);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        let start = 0;
        const damaged = frames.findIndex((frame) => {
          start += frame.length;
          return at < start;
        });
        const content = decodeSegment(bytes);
        expect(content.records).toEqual(records.filter((_, index) => index !== damaged).flat());
        expect(content.damagedBytes).toBeGreaterThan(0);
      },
    ),
    { numRuns: RUNS },
  );
});

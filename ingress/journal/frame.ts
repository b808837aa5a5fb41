import { crc32 } from "node:zlib";

/*
 * A journal is a row of frames, one record each:
 *   4 bytes  mark, so that reading finds the next frame after a damaged one
 *   4 bytes  length of the payload
 *   4 bytes  crc32 of all that follows (node:zlib has crc32, not crc32c)
 *   2 bytes  lane
 *   6 bytes  position
 *   payload  the JSON of the record
 */
const MARK = 0x4c4e524a;
const LENGTH_AT = 4;
const SUM_AT = 8;
const LANE_AT = 12;
const POSITION_AT = 14;
const POSITION_BYTES = 6;
export const FRAME_HEAD_BYTES = 20;
/** No request is that long. A longer length means damage. */
const PAYLOAD_BYTES_MAX = 16 * 1024 ** 2;
const FIRST_CAPACITY_BYTES = 64 * 1024;
/** Most bytes of UTF-8 for one unit of UTF-16. */
const BYTES_PER_UNIT_MAX = 3;

/** One record as stored in the journal. Positions count from 0 in (producer, epoch, lane). */
export type JournalRecord = {
  readonly lane: number;
  readonly position: number;
  /** The JSON of the record. */
  readonly line: string;
};

/** The content of one segment: the good records in order, and the number of bytes that belong to no good frame. */
export type SegmentContent = {
  readonly records: readonly JournalRecord[];
  readonly damagedBytes: number;
};

/** Encodes one frame at a time into the same memory, so that a record costs no allocation. */
export class FrameBuffer {
  #bytes = Buffer.allocUnsafeSlow(FIRST_CAPACITY_BYTES);
  #length = 0;

  /** The frame is in the first {@link length} bytes, its payload after {@link FRAME_HEAD_BYTES}. {@link encode} overwrites it. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  encode({ lane, position, line }: JournalRecord): this {
    const most = FRAME_HEAD_BYTES + line.length * BYTES_PER_UNIT_MAX;
    if (most > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(most);
    const bytes = this.#bytes;
    const payloadBytes = bytes.write(line, FRAME_HEAD_BYTES);
    this.#length = FRAME_HEAD_BYTES + payloadBytes;
    bytes.writeUInt32LE(MARK, 0);
    bytes.writeUInt32LE(payloadBytes, LENGTH_AT);
    bytes.writeUInt16LE(lane, LANE_AT);
    bytes.writeUIntLE(position, POSITION_AT, POSITION_BYTES);
    bytes.writeUInt32LE(crc32(bytes.subarray(LANE_AT, this.#length)), SUM_AT);
    return this;
  }
}

/**
 * Reads a segment in any state (P7): a frame that is cut or changed is skipped, the search continues at the next mark, and no
 * record is made up. Trailing zeros are the unused reserve of a segment and do not count as damage.
 */
export function decodeSegment(bytes: Buffer): SegmentContent {
  const records: JournalRecord[] = [];
  const end = endOfContent(bytes);
  let damagedBytes = 0;
  let at = 0;
  while (at < end) {
    const length = payloadLengthAt(bytes, at);
    if (length >= 0) {
      records.push(recordAt(bytes, at, length));
      at += FRAME_HEAD_BYTES + length;
      continue;
    }
    const next = nextMark(bytes, at + 1, end);
    damagedBytes += next - at;
    at = next;
  }
  return { records, damagedBytes };
}

/** Length of the payload of the good frame at `at`; -1 when there is no good frame. */
function payloadLengthAt(bytes: Buffer, at: number): number {
  if (at + FRAME_HEAD_BYTES > bytes.length || bytes.readUInt32LE(at) !== MARK) return -1;
  const length = bytes.readUInt32LE(at + LENGTH_AT);
  const end = at + FRAME_HEAD_BYTES + length;
  if (length > PAYLOAD_BYTES_MAX || end > bytes.length) return -1;
  const sum = crc32(bytes.subarray(at + LANE_AT, end));
  return sum === bytes.readUInt32LE(at + SUM_AT) ? length : -1;
}

function recordAt(bytes: Buffer, at: number, length: number): JournalRecord {
  const from = at + FRAME_HEAD_BYTES;
  return {
    lane: bytes.readUInt16LE(at + LANE_AT),
    position: bytes.readUIntLE(at + POSITION_AT, POSITION_BYTES),
    line: bytes.toString("utf8", from, from + length),
  };
}

function nextMark(bytes: Buffer, from: number, end: number): number {
  const mark = Buffer.allocUnsafe(4);
  mark.writeUInt32LE(MARK);
  const found = bytes.indexOf(mark, from);
  return found === -1 || found > end ? end : found;
}

const ZEROS = Buffer.alloc(64 * 1024);

/** Where the trailing zeros of a segment begin. A fresh segment is nearly all zeros. */
function endOfContent(bytes: Buffer): number {
  let end = bytes.length;
  for (;;) {
    const from = Math.max(0, end - ZEROS.length);
    if (from === end || bytes.compare(ZEROS, 0, end - from, from, end) !== 0) break;
    end = from;
  }
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

import { crc32 } from "node:zlib";

/*
 * A journal is a row of frames:
 *   4 bytes  mark, so that reading finds the next frame after a damaged one
 *   4 bytes  length of the payload
 *   4 bytes  crc32 of the payload (node:zlib has crc32, not crc32c)
 *   payload  one line a record: `<lane> <position> <JSON>`
 * The records of one turn of the event loop share a frame.
 */
const MARK = 0x4c4e524a;
const HEAD_BYTES = 12;
/** No turn writes more; a longer length is damage. */
const FRAME_PAYLOAD_BYTES_MAX = 16 * 1024 ** 2;

/** One record as the journal holds it. Positions count from 0 in (producer, epoch, lane). */
export type JournalRecord = {
  readonly lane: number;
  readonly position: number;
  /** The JSON of the record. */
  readonly line: string;
};

/** What stands in one segment: the good records in their order, and how many bytes belong to no good frame. */
export type SegmentContent = {
  readonly records: readonly JournalRecord[];
  readonly damagedBytes: number;
};

export function recordLine(record: JournalRecord): string {
  return `${record.lane} ${record.position} ${record.line}\n`;
}

/** A frame around lines of {@link recordLine}. */
export function encodeFrame(lines: string): Buffer {
  const bytes = Buffer.byteLength(lines);
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes);
  frame.write(lines, HEAD_BYTES, "utf8");
  frame.writeUInt32LE(MARK, 0);
  frame.writeUInt32LE(bytes, 4);
  frame.writeUInt32LE(crc32(frame.subarray(HEAD_BYTES)), 8);
  return frame;
}

/**
 * Reads a segment whatever has happened to it (P7): a frame that is cut or changed is skipped, the search goes on for the next
 * mark, and nothing is made up. Trailing zeros, the reserve of a segment that was never filled, are no damage.
 */
export function decodeSegment(bytes: Buffer): SegmentContent {
  const records: JournalRecord[] = [];
  const end = endOfContent(bytes);
  let damagedBytes = 0;
  let at = 0;
  while (at < end) {
    const payload = payloadAt(bytes, at);
    const found = payload === undefined ? undefined : decodePayload(payload);
    if (payload !== undefined && found !== undefined) {
      for (const record of found) records.push(record);
      at += HEAD_BYTES + payload.length;
      continue;
    }
    const next = nextMark(bytes, at + 1, end);
    damagedBytes += next - at;
    at = next;
  }
  return { records, damagedBytes };
}

function payloadAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + HEAD_BYTES > bytes.length || bytes.readUInt32LE(at) !== MARK) return undefined;
  const length = bytes.readUInt32LE(at + 4);
  if (length > FRAME_PAYLOAD_BYTES_MAX || at + HEAD_BYTES + length > bytes.length) return undefined;
  const payload = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
  return crc32(payload) === bytes.readUInt32LE(at + 8) ? payload : undefined;
}

/** Undefined for a payload that we never wrote, though its sum is right: as good as damage. */
function decodePayload(payload: Buffer): JournalRecord[] | undefined {
  const records: JournalRecord[] = [];
  for (const text of payload.toString("utf8").split("\n")) {
    if (text === "") continue;
    const match = /^(\d{1,3}) (\d{1,15}) (\{.*\})$/s.exec(text);
    if (match === null) return undefined;
    const [, lane = "", position = "", line = ""] = match;
    records.push({ lane: Number(lane), position: Number(position), line });
  }
  return records;
}

function nextMark(bytes: Buffer, from: number, end: number): number {
  const mark = Buffer.allocUnsafe(4);
  mark.writeUInt32LE(MARK);
  const found = bytes.indexOf(mark, from);
  return found === -1 || found > end ? end : found;
}

function endOfContent(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

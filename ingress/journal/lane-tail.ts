import { BATCH_BYTES_MAX, BATCH_RECORDS_MAX } from "../../schemas/events/click-batch.ts";

/** Room for the head of a message, which comes before its lines: its length is known only when the message is sent. */
const HEAD_ROOM_BYTES = 256;
const CHUNK_BYTES = HEAD_ROOM_BYTES + BATCH_BYTES_MAX;
const FREE_CHUNKS_MAX = 4;
const LINE_FEED = 10;

/** Records of one message as it will be sent: lines, each ended by a line feed. */
type Chunk = {
  readonly bytes: Buffer;
  first: number;
  records: number;
  end: number;
  lastLineAt: number;
  isSealed: boolean;
};

/** A message that may be sent any number of times. It is valid until {@link LaneTail.dropBefore} has passed it. */
export type TailMessage = {
  readonly first: number;
  readonly records: number;
  /** The text of the last record. */
  readonly lastLine: () => string;
  /** The whole message, with this head before its lines. */
  readonly withHead: (head: string) => Uint8Array;
};

/**
 * The newest records of one lane in memory, without gaps, in the bytes that are sent. What does not fit is dropped from the front,
 * because the journal on disk has it. Memory is reused, so a record leaves no garbage.
 */
export class LaneTail {
  readonly #chunks: Chunk[] = [];
  readonly #free: Chunk[] = [];
  #next = 0;
  #bytes = 0;

  /** Position of the oldest record held; of the next record while none is held. */
  get first(): number {
    return this.#chunks[0]?.first ?? this.#next;
  }

  get next(): number {
    return this.#next;
  }

  /** Memory held, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether waiting longer would not make the next message any larger. */
  get hasFullMessage(): boolean {
    const [oldest] = this.#chunks;
    return this.#chunks.length > 1 || (oldest?.records ?? 0) >= BATCH_RECORDS_MAX;
  }

  /** Adds the record at {@link next}: the bytes of `source` from `from` up to but not including `to`. */
  push(source: Buffer, from: number, to: number): void {
    const length = to - from;
    const last = this.#chunks.at(-1);
    const chunk = last !== undefined && hasRoom(last, length) ? last : this.#addChunk(length);
    chunk.lastLineAt = chunk.end;
    source.copy(chunk.bytes, chunk.end, from, to);
    chunk.bytes[chunk.end + length] = LINE_FEED;
    chunk.end += length + 1;
    chunk.records += 1;
    this.#next += 1;
  }

  /** The oldest records as one message, which then stays unchanged; undefined when there are none. */
  message(): TailMessage | undefined {
    const [chunk] = this.#chunks;
    if (chunk === undefined) return undefined;
    chunk.isSealed = true;
    const { bytes, first, records, end, lastLineAt } = chunk;
    return {
      first,
      records,
      lastLine: () => bytes.toString("utf8", lastLineAt, end - 1),
      withHead: (head) => {
        const from = HEAD_ROOM_BYTES - head.length - 1;
        bytes.write(head, from, "latin1");
        bytes[HEAD_ROOM_BYTES - 1] = LINE_FEED;
        return bytes.subarray(from, end - 1);
      },
    };
  }

  /** Forgets the messages before `position`. Nothing may read their memory afterwards. */
  dropBefore(position: number): void {
    for (;;) {
      const [chunk] = this.#chunks;
      if (chunk === undefined || chunk.first + chunk.records > position) return;
      this.#chunks.shift();
      this.#bytes -= chunk.bytes.length;
      const isUsual = chunk.bytes.length === CHUNK_BYTES;
      if (isUsual && this.#free.length < FREE_CHUNKS_MAX) this.#free.push(chunk);
    }
  }

  /** Forgets the oldest records until at most `bytesMax` are held. A message being sent stays unchanged. */
  shrinkTo(bytesMax: number): void {
    while (this.#bytes > bytesMax && this.#chunks.length > 1) {
      this.#bytes -= this.#chunks.shift()?.bytes.length ?? 0;
    }
  }

  #addChunk(lengthMin: number): Chunk {
    const free = lengthMin < BATCH_BYTES_MAX ? this.#free.pop() : undefined;
    const size = Math.max(CHUNK_BYTES, HEAD_ROOM_BYTES + lengthMin + 1);
    const bytes = free?.bytes ?? Buffer.allocUnsafeSlow(size);
    const chunk = {
      bytes,
      first: this.#next,
      records: 0,
      end: HEAD_ROOM_BYTES,
      lastLineAt: HEAD_ROOM_BYTES,
      isSealed: false,
    };
    this.#chunks.push(chunk);
    this.#bytes += bytes.length;
    return chunk;
  }
}

function hasRoom(chunk: Chunk, length: number): boolean {
  return (
    !chunk.isSealed &&
    chunk.records < BATCH_RECORDS_MAX &&
    chunk.end + length + 1 <= chunk.bytes.length
  );
}

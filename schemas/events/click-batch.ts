import { z } from "zod";

/** Bounds of one message: whichever comes first closes it. */
export const BATCH_RECORDS_MAX = 1_024;
/** Half of what a NATS server accepts by default. */
export const BATCH_BYTES_MAX = 524_288;
export const BATCH_AGE_MS_MAX = 2;
/** For a busy lane: a message costs ingress, NATS and the writer 400 µs together, regardless of the number of records in it. */
export const BUSY_BATCH_AGE_MS_MAX = 40;
/** An idle lane sends an empty batch this often, so that its writer knows that no records are in flight. */
export const IDLE_BATCH_MS = 500;

const LINE_FEED = 10;
const NONCE_CHARACTERS_MAX = 32;

export const BatchHead = z.object({
  producer: z.int().min(0).max(65_535),
  /** Counts the starts of the producer: every start opens a new sequence in every lane. */
  epoch: z.int().nonnegative(),
  lane: z.int().nonnegative(),
  /** Position of the first record in (producer, epoch, lane); the others follow without a gap. Positions begin at 0. */
  first: z.int().nonnegative(),
  /** When the batch was cut, UTC ms: every record of the lane answered before is in this batch or in an earlier one. */
  at: z.int().nonnegative(),
  /** Set if the producer has declared the records from here to `first` lost. */
  lostFrom: z.int().nonnegative().optional(),
  /**
   * All epochs of this producer below this number have ended and are shipped completely. In the last message of an epoch it is `epoch` + 1;
   * it is 0 while earlier epochs may still have records. Without the field, an epoch ends by silence.
   */
  endedBefore: z.int().nonnegative().optional(),
  /**
   * Set in the last message of an epoch whose producer number belongs to another process by now: this epoch has ended, and nothing is said
   * about others.
   */
  hasEnded: z.literal(true).optional(),
  /**
   * Random, made with the epoch: distinguishes this start of the producer from any other with the same number and epoch. Producers
   * of older releases leave it out.
   */
  nonce: z.string().max(NONCE_CHARACTERS_MAX).optional(),
  /**
   * Number of click lanes among which the producer distributes every record after this batch. Without the field, the number is unknown: the
   * batch comes from leftovers, or from a release that knows four lanes only.
   */
  lanes: z.int().positive().optional(),
});

/**
 * Consecutive records of one producer in one lane, as a JetStream message: a JSON head, then one JSON record per line. When records are
 * sent again, they may be split into other batches: stored records are identified by position, not by message.
 */
export type ClickBatch = z.infer<typeof BatchHead> & {
  /** Each line is the JSON of a ClickRecord or ImpressionRecord, without line breaks and without fields at their default. */
  readonly lines: readonly string[];
};

export function encodeBatch(batch: ClickBatch): Uint8Array {
  const { lines, ...head } = batch;
  return new TextEncoder().encode(`${encodeBatchHead(head)}\n${lines.join("\n")}`);
}

/** ASCII. The lines follow it, each after a line feed. */
export function encodeBatchHead(head: Omit<ClickBatch, "lines">): string {
  return JSON.stringify(head);
}

/** @throws {SyntaxError | ZodError} for bytes that no producer of ours wrote. */
export function decodeBatch(bytes: Uint8Array): ClickBatch {
  const [head = "", ...lines] = new TextDecoder("utf-8", { fatal: true }).decode(bytes).split("\n");
  return {
    ...BatchHead.parse(JSON.parse(head)),
    lines: lines.length === 1 && lines[0] === "" ? [] : lines,
  };
}

/**
 * Reads the head of a batch, and where its lines begin, for a reader that copies them unparsed. A batch without lines ends there.
 * @throws {SyntaxError | ZodError} for bytes that no producer of ours wrote.
 */
export function decodeBatchHead(bytes: Uint8Array): {
  readonly head: Omit<ClickBatch, "lines">;
  readonly linesAt: number;
} {
  const end = bytes.indexOf(LINE_FEED);
  const head = new TextDecoder("utf-8", { fatal: true }).decode(
    bytes.subarray(0, Math.max(0, end)),
  );
  return { head: BatchHead.parse(JSON.parse(head)), linesAt: end + 1 };
}

/**
 * What the writer of a lane has stored, published once a second and after each flush (`subjects.ts`). A producer may delete a
 * record only when `next` has passed it and no range of `missing` contains it; it ships missing records again.
 */
export const Watermark = z.object({
  lane: z.int().nonnegative(),
  producer: z.int().nonnegative(),
  epoch: z.int().nonnegative(),
  next: z.int().nonnegative(),
  /** Ranges below `next` that never arrived, each [from, to). Bounded: the writer lists the first 100. */
  missing: z.array(z.tuple([z.int().nonnegative(), z.int().nonnegative()])).max(100),
  /**
   * Whose positions these are: the nonce that came first for this producer and epoch. Batches with another nonce are refused, and
   * their producer must keep its records. Absent where no batch had a nonce.
   */
  nonce: z.string().max(NONCE_CHARACTERS_MAX).optional(),
  /**
   * Number of click lanes among which the producer distributes every record after this batch. Without the field, the number is unknown: the
   * batch comes from leftovers, or from a release that knows four lanes only.
   */
  lanes: z.int().positive().optional(),
});
export type Watermark = z.infer<typeof Watermark>;
export const Watermarks = z.array(Watermark).max(10_000);

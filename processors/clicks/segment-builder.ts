import type { Segment } from "./batch.ts";
import type { LineHead } from "./read-line.ts";

/** Collects the rows of one message into segments: a new one where the month changes or a position is left out. */
export class SegmentBuilder {
  readonly #producer: number;
  readonly #epoch: number;
  readonly #readAtMs: number;
  #rows: string[] = [];
  #from = 0;
  #month = 0;
  #fromMs = 0;
  #toMs = 0;
  #adHashes: number[] = [];

  constructor(of: { readonly producer: number; readonly epoch: number }, readAtMs: number) {
    this.#producer = of.producer;
    this.#epoch = of.epoch;
    this.#readAtMs = readAtMs;
  }

  /** Whether a row of this month, at the next position, belongs to the same segment. */
  continues(month: number): boolean {
    return this.#rows.length === 0 || month === this.#month;
  }

  add(position: number, month: number, head: LineHead, row: string): void {
    const { ts, adHashes } = head;
    if (this.#rows.length === 0) {
      this.#from = position;
      this.#month = month;
      this.#fromMs = ts;
      this.#toMs = ts;
    }
    this.#rows.push(row);
    for (const hash of adHashes) this.#adHashes.push(hash);
    if (ts < this.#fromMs) this.#fromMs = ts;
    if (ts > this.#toMs) this.#toMs = ts;
  }

  /** The segment of the rows so far; undefined without one. The next row begins another. */
  finish(): Segment | undefined {
    if (this.#rows.length === 0) return undefined;
    const rows = this.#rows;
    const segment: Segment = {
      producer: this.#producer,
      epoch: this.#epoch,
      from: this.#from,
      to: this.#from + rows.length,
      month: this.#month,
      bytes: Buffer.from(`${rows.join("\n")}\n`),
      fromMs: this.#fromMs,
      toMs: this.#toMs,
      adHashes: this.#adHashes,
      readAtMs: this.#readAtMs,
      isStored: false,
    };
    this.#rows = [];
    this.#adHashes = [];
    return segment;
  }
}

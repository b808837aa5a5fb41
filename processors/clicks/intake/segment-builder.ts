import type { AdClick } from "../rows/ad-clicks.ts";
import type { Segment } from "../rows/batch.ts";

/**
 * Space for the longest text that is added to a row, 87 bytes:
 * `,"is_unique":false,"_producer":65535,"_epoch":4294967295,"_position":9007199254740991}` and a line feed.
 */
const ADDED_BYTES_MAX = 96;

/**
 * Collects the rows of one message, at consecutive positions, into segments. The caller begins a new segment with
 * `finish` where the month changes or a position is left out. Rows are copied once, into the bytes that go to ClickHouse.
 */
export class SegmentBuilder {
  readonly #producer: number;
  readonly #epoch: number;
  readonly #readAtMs: number;
  readonly #bytes: Buffer;
  #start = 0;
  #end = 0;
  #from = 0;
  #rows = 0;
  #month = 0;
  #fromMs = 0;
  #toMs = 0;
  #rowAt = 0;
  #rowTs = 0;
  #adClicks: AdClick[] = [];

  /** Reserves space for `rows` lines that together have `lineBytes`. */
  constructor(
    of: { readonly producer: number; readonly epoch: number },
    options: { readonly readAtMs: number; readonly lineBytes: number; readonly rows: number },
  ) {
    this.#producer = of.producer;
    this.#epoch = of.epoch;
    this.#readAtMs = options.readAtMs;
    this.#bytes = Buffer.allocUnsafe(options.lineBytes + options.rows * ADDED_BYTES_MAX);
  }

  /** Whether a row of this month, at the next position, belongs to the same segment. */
  continues(month: number): boolean {
    return this.#rows === 0 || month === this.#month;
  }

  /** `line` is the JSON of the record, one character for each byte (latin1). `isUnique` is undefined for an impression. */
  add(
    line: string,
    row: { readonly position: number; readonly month: number; readonly ts: number },
    isUnique: boolean | undefined,
  ): void {
    const { position, month, ts } = row;
    if (this.#rows === 0) {
      this.#start = this.#end;
      this.#from = position;
      this.#month = month;
      this.#fromMs = ts;
      this.#toMs = ts;
    }
    this.#rows += 1;
    if (ts < this.#fromMs) this.#fromMs = ts;
    if (ts > this.#toMs) this.#toMs = ts;
    const unique = isUnique === undefined ? "" : `,"is_unique":${isUnique}`;
    const added = `${unique},"_producer":${this.#producer},"_epoch":${this.#epoch},"_position":${position}}\n`;
    // The added columns overwrite the line's last brace.
    const bytes = this.#bytes;
    this.#rowAt = this.#end;
    this.#rowTs = ts;
    this.#end += bytes.write(line, this.#end, "latin1") - 1;
    this.#end += bytes.write(added, this.#end, "latin1");
  }

  /** `keys` are the keys by which the row just added can be found (`adClickKeys`). */
  addAdClick(keys: readonly string[], offerId: number): void {
    const row = { offerId, ts: this.#rowTs, bytes: this.#bytes, at: this.#rowAt };
    for (const key of keys) this.#adClicks.push({ key, ...row });
  }

  /** The segment of the rows so far; undefined if there are none. The next row begins another segment. */
  finish(): Segment | undefined {
    if (this.#rows === 0) return undefined;
    const segment: Segment = {
      producer: this.#producer,
      epoch: this.#epoch,
      from: this.#from,
      to: this.#from + this.#rows,
      month: this.#month,
      bytes: this.#bytes.subarray(this.#start, this.#end),
      fromMs: this.#fromMs,
      toMs: this.#toMs,
      adClicks: this.#adClicks,
      readAtMs: this.#readAtMs,
      isStored: false,
    };
    this.#rows = 0;
    this.#adClicks = [];
    return segment;
  }
}

import type { JournalRecord } from "./frame.ts";

/**
 * The newest records of one lane in memory, without gaps, oldest first. What does not fit is dropped from the front: the journal
 * on disk has it.
 */
export class LaneTail {
  #records: JournalRecord[] = [];
  #head = 0;
  bytes = 0;

  /** Position of the oldest record held, or of the next one to come while none is. */
  first = 0;

  get next(): number {
    return this.first + this.#records.length - this.#head;
  }

  push(record: JournalRecord): void {
    if (this.next !== record.position) {
      this.#records = [];
      this.#head = 0;
      this.bytes = 0;
      this.first = record.position;
    }
    this.#records.push(record);
    this.bytes += record.line.length;
  }

  /** The lines from `position` on, at most so many records and bytes; at least one where there is one. */
  linesFrom(position: number, limits: { records: number; bytes: number }): string[] {
    const lines: string[] = [];
    let bytes = 0;
    for (let at = this.#head + position - this.first; at < this.#records.length; at += 1) {
      const line = this.#records[at]?.line ?? "";
      if (
        lines.length > 0 &&
        (lines.length >= limits.records || bytes + line.length > limits.bytes)
      ) {
        break;
      }
      lines.push(line);
      bytes += line.length;
    }
    return lines;
  }

  /** Forgets everything before `position`. */
  dropBefore(position: number): void {
    while (this.first < position && this.#head < this.#records.length) this.#dropFirst();
    if (this.#head > 4_096 && this.#head * 2 > this.#records.length) {
      this.#records = this.#records.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Forgets the oldest records until at most `bytesMax` are held; answers how many went. */
  shrinkTo(bytesMax: number): number {
    let dropped = 0;
    while (this.bytes > bytesMax && this.#head < this.#records.length) {
      this.#dropFirst();
      dropped += 1;
    }
    return dropped;
  }

  #dropFirst(): void {
    this.bytes -= this.#records[this.#head]?.line.length ?? 0;
    this.#head += 1;
    this.first += 1;
  }
}

const LINE_FEED = "\n";

/** The lines of a message as latin1 text: one character per byte, so copied text keeps its bytes. */
export class BatchLines {
  readonly text: string;
  /** Where each line begins, plus one entry for the end. */
  readonly #starts: number[] = [];

  constructor(bytes: Uint8Array, linesAt: number) {
    const lines = Buffer.from(bytes.buffer, bytes.byteOffset + linesAt, bytes.length - linesAt);
    this.text = lines.toString("latin1");
    if (this.text === "") return;
    for (let start = 0; start >= 0; ) {
      this.#starts.push(start);
      const end = this.text.indexOf(LINE_FEED, start);
      start = end < 0 ? -1 : end + 1;
    }
    this.#starts.push(this.text.length + 1);
  }

  get count(): number {
    return Math.max(0, this.#starts.length - 1);
  }

  at(index: number): string {
    return this.text.slice(this.#starts[index] ?? 0, (this.#starts[index + 1] ?? 1) - 1);
  }

  /** Bytes of the lines from `from` up to, but not including, `to`, line feeds included. */
  bytesOf(from: number, to: number): number {
    return (this.#starts[to] ?? 0) - (this.#starts[from] ?? 0);
  }
}

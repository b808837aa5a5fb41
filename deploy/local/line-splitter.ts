/** Longest line that is kept whole; the rest of a longer one is dropped. */
const LINE_CHARS_MAX = 8_192;

/** Cuts a stream of text into lines and hands each on without its line end. Holds at most one unfinished line. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = (parts.pop() ?? "").slice(0, LINE_CHARS_MAX);
    for (const line of parts) this.#onLine(line.slice(0, LINE_CHARS_MAX).trimEnd());
  }

  /** Hands on what was written without a line end before the stream closed. */
  end(): void {
    if (this.#rest !== "") this.#onLine(this.#rest.trimEnd());
    this.#rest = "";
  }
}

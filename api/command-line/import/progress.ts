const EVERY_MS = 500;

/** Reports how many rows are done, at most twice a second. */
export class Progress {
  readonly #tell: (line: string) => void;
  readonly #doing: string;
  readonly #startMs = Date.now();
  #rows = 0;
  #toldAtMs = Date.now();

  /** `doing` is what happens to the rows: "checked". */
  constructor(tell: (line: string) => void, doing: string) {
    this.#tell = tell;
    this.#doing = doing;
  }

  add(rows: number): void {
    this.#rows += rows;
    const nowMs = Date.now();
    if (nowMs - this.#toldAtMs < EVERY_MS) return;
    this.#toldAtMs = nowMs;
    const perSecond = Math.round((this.#rows * 1000) / (nowMs - this.#startMs));
    this.#tell(`${this.#rows} rows ${this.#doing}, ${perSecond} a second`);
  }
}

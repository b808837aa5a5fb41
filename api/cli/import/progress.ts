const EVERY_MS = 500;

/** Reports how many rows are done, at most twice a second. */
export class Progress {
  readonly #report: (line: string) => void;
  readonly #doing: string;
  readonly #startMs = Date.now();
  #rows = 0;
  #reportedAtMs = Date.now();

  /** `doing` is what happens to the rows: "checked". */
  constructor(report: (line: string) => void, doing: string) {
    this.#report = report;
    this.#doing = doing;
  }

  add(rows: number): void {
    this.#rows += rows;
    const nowMs = Date.now();
    if (nowMs - this.#reportedAtMs < EVERY_MS) return;
    this.#reportedAtMs = nowMs;
    const perSecond = Math.round((this.#rows * 1000) / (nowMs - this.#startMs));
    this.#report(`${this.#rows} rows ${this.#doing}, ${perSecond} a second`);
  }
}

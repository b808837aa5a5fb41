/** Something that is there for a while, such as rows that wait: its mean over time and its most. */
export class Level {
  readonly #nowMs: () => number;
  #value = 0;
  #sinceMs = 0;
  #fromMs = 0;
  #area = 0;
  #most = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get value(): number {
    return this.#value;
  }

  get most(): number {
    return this.#most;
  }

  /** Since the last {@link restart}. */
  get mean(): number {
    this.#settle();
    return this.#area / (this.#nowMs() - this.#fromMs);
  }

  add(amount: number): void {
    this.#settle();
    this.#value += amount;
    if (this.#value > this.#most) this.#most = this.#value;
  }

  /** Forgets what was before, for a model that has warmed up. */
  restart(): void {
    this.#settle();
    this.#area = 0;
    this.#most = this.#value;
    this.#fromMs = this.#nowMs();
  }

  #settle(): void {
    const nowMs = this.#nowMs();
    this.#area += this.#value * (nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
  }
}

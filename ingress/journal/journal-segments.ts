/** The records in a segment: of each lane, the positions from `first` up to but not including `next`. */
export type SegmentIndex = {
  readonly path: string;
  readonly epoch: number;
  readonly lanes: Map<number, { first: number; next: number }>;
};

/** Segments of the running epoch that writers may not have stored yet. The journal adds them, the shipper removes them. */
export class JournalSegments {
  readonly #segments: SegmentIndex[] = [];
  #isClosed = false;

  /** Oldest first; until {@link close} the journal writes into the last one. */
  get all(): readonly SegmentIndex[] {
    return this.#segments;
  }

  add(segment: SegmentIndex): void {
    this.#segments.push(segment);
  }

  /** The journal writes no more: the last segment is removed as well once the writers have it. */
  close(): void {
    this.#isClosed = true;
  }

  /** Removes segments from the front while `isPassed` says that the writers have stored them. Returns their paths. */
  takePassed(isPassed: (segment: SegmentIndex) => boolean): string[] {
    const passed: string[] = [];
    for (;;) {
      const [oldest] = this.#segments;
      const isWrittenTo = this.#segments.length === 1 && !this.#isClosed;
      if (oldest === undefined || isWrittenTo || !isPassed(oldest)) return passed;
      passed.push(oldest.path);
      this.#segments.shift();
    }
  }
}

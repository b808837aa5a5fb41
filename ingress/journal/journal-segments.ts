/** The records in a segment: of each lane, the positions from `first` up to but not including `next`. */
export type SegmentIndex = {
  readonly path: string;
  readonly epoch: number;
  readonly lanes: Map<number, { first: number; next: number }>;
};

/** Segments of the running epoch that writers may not have stored yet. The journal adds them, the shipper removes them. */
export class JournalSegments {
  readonly #segments: SegmentIndex[] = [];

  /** Oldest first; the journal writes into the last one. */
  get all(): readonly SegmentIndex[] {
    return this.#segments;
  }

  add(segment: SegmentIndex): void {
    this.#segments.push(segment);
  }

  /** Removes segments from the front while `isPassed` says that the writers have stored them. Returns their paths. */
  takePassed(isPassed: (segment: SegmentIndex) => boolean): string[] {
    const passed: string[] = [];
    for (;;) {
      const [oldest] = this.#segments;
      if (oldest === undefined || this.#segments.length === 1 || !isPassed(oldest)) return passed;
      passed.push(oldest.path);
      this.#segments.shift();
    }
  }
}

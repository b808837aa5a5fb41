const BUCKET = /^tracker_clicks_freshness_seconds_bucket\{table="click",le="([^"]+)"\} (\S+)$/gm;

/** Ages of clicks when ClickHouse got them, as the click writer counts them in its metrics. */
export class ClickAges {
  readonly #metrics: URL;

  constructor(metrics: URL) {
    this.#metrics = metrics;
  }

  /** All ages since the writer's start. @throws when the process does not answer or has no such metric. */
  async read(): Promise<AgeBuckets> {
    const answer = await fetch(this.#metrics);
    if (!answer.ok) throw new Error(`${this.#metrics} answered ${answer.status}`);
    return AgeBuckets.parse(await answer.text());
  }
}

/** Clicks by age. A bucket has the clicks that are older than the bound of the bucket before. */
export class AgeBuckets {
  readonly #counts: readonly (readonly [boundSeconds: number, clicks: number])[];

  private constructor(counts: readonly (readonly [number, number])[]) {
    this.#counts = counts;
  }

  /** @throws {Error} if the text of the metrics has no ages of clicks. */
  static parse(text: string): AgeBuckets {
    const cumulative = [...text.matchAll(BUCKET)].map(
      ([, bound, count]) => [bound === "+Inf" ? Infinity : Number(bound), Number(count)] as const,
    );
    if (cumulative.length === 0) throw new Error("the metrics have no ages of clicks");
    return new AgeBuckets(
      cumulative.map(([bound, count], at) => [bound, count - (cumulative[at - 1]?.[1] ?? 0)]),
    );
  }

  since(before: AgeBuckets): AgeBuckets {
    return new AgeBuckets(
      this.#counts.map(([bound, count], at) => [bound, count - (before.#counts[at]?.[1] ?? 0)]),
    );
  }

  /** Milliseconds, interpolated within a bucket; the last bound for ages above it. */
  quantileMs(share: number): number {
    const total = this.#counts.reduce((sum, [, count]) => sum + count, 0);
    let below = 0;
    let from = 0;
    for (const [bound, count] of this.#counts) {
      if (count > 0 && below + count >= share * total) {
        if (bound === Infinity) return from * 1_000;
        return (from + ((share * total - below) / count) * (bound - from)) * 1_000;
      }
      below += count;
      from = bound === Infinity ? from : bound;
    }
    return Number.NaN;
  }
}

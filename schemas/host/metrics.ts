type Labels = Readonly<Record<string, string>>;

/** One value of a family; the suffix belongs to its name. */
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** One time series family of the Prometheus text format. */
type Family = {
  readonly help: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly read: () => readonly Sample[];
};

/** Upper bounds in seconds, from a statement on this machine to a request that runs into its limit. */
const SECONDS_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

const LABEL_ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", '"': '\\"' };

/** The instruments of a process, in the order of their declaration. Names are `<process>_<noun>_<unit|total>`. */
export class Metrics {
  readonly #families = new Map<string, Family>();

  /** A count that only rises. Labels have known, few values. */
  counter(name: string, help: string): Counter {
    const counter = new Counter();
    this.#declare(name, { help, kind: "counter", read: () => counter.read() });
    return counter;
  }

  /** Observes durations in seconds. Labels have few, known values: each has a series per bucket and three more. */
  histogram(name: string, help: string): Histogram {
    const histogram = new Histogram(SECONDS_BOUNDS);
    this.#declare(name, { help, kind: "histogram", read: () => histogram.read() });
    return histogram;
  }

  /** A value that is read at each scrape; absent, not zero, while `read` returns undefined. */
  gauge(name: string, help: string, read: () => number | undefined): void {
    this.#declare(name, {
      help,
      kind: "gauge",
      read: () => {
        const value = read();
        return value === undefined ? [] : [[{}, value]];
      },
    });
  }

  /** Values by label, read at each scrape. */
  gauges(name: string, help: string, read: () => [Labels, number][]): void {
    this.#declare(name, { help, kind: "gauge", read });
  }

  /** The Prometheus text format. */
  render(): string {
    const lines: string[] = [];
    for (const [name, family] of this.#families) {
      lines.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.kind}`);
      for (const [labels, value, suffix = ""] of family.read())
        lines.push(`${name}${suffix}${renderLabels(labels)} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }

  #declare(name: string, family: Family): void {
    if (this.#families.has(name)) throw new Error(`metric ${name} is declared twice`);
    this.#families.set(name, family);
  }
}

export class Counter {
  readonly #series = new LabelledSeries(() => ({ value: 0 }));

  add(count = 1, labels: Labels = {}): void {
    this.series(labels).value += count;
  }

  /** One series, for code that counts every request. */
  series(labels: Labels): { value: number } {
    return this.#series.of(labels);
  }

  read(): readonly Sample[] {
    const all = this.#series.all().map(([labels, { value }]): Sample => [labels, value]);
    return all.length === 0 ? [[{}, 0]] : all;
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #series: LabelledSeries<HistogramSeries>;

  /** The bounds are ascending. Larger values are in the bucket `+Inf`. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#series = new LabelledSeries(() => new HistogramSeries(bounds));
  }

  observe(value: number, labels: Labels = {}): void {
    this.series(labels).observe(value);
  }

  /** One series, for code that observes with every request. */
  series(labels: Labels): HistogramSeries {
    return this.#series.of(labels);
  }

  /** Buckets are cumulative in the text format, and counted one by one in memory. */
  read(): readonly Sample[] {
    return this.#series.all().flatMap(([labels, { counts, sum }]) => {
      let count = 0;
      const buckets = counts.map((ofBucket, index): Sample => {
        count += ofBucket;
        return [{ ...labels, le: String(this.#bounds[index] ?? "+Inf") }, count, "_bucket"];
      });
      return [...buckets, [labels, sum, "_sum"], [labels, count, "_count"]];
    });
  }
}

class HistogramSeries {
  readonly #bounds: readonly number[];
  /** One for each bound, and one for values above all of them. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = [...bounds, 0].fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

class LabelledSeries<Series> {
  readonly #make: () => Series;
  readonly #known = new Map<string, readonly [Labels, Series]>();

  constructor(make: () => Series) {
    this.#make = make;
  }

  of(labels: Labels): Series {
    const key = JSON.stringify(labels);
    const known = this.#known.get(key);
    if (known !== undefined) return known[1];
    const series = this.#make();
    this.#known.set(key, [labels, series]);
    return series;
  }

  all(): (readonly [Labels, Series])[] {
    return [...this.#known.values()];
  }
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replace(/[\\\n"]/g, (found) => LABEL_ESCAPES[found] ?? found)}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

import {
  BOUNDS,
  type CounterDefinition,
  type GaugeDefinition,
  type HistogramDefinition,
  type LabelDefinitions,
  type MetricDefinition,
  type NoLabels,
} from "./metric-definition.ts";
import { METRICS } from "./metric-definitions.ts";

/** Put before every name. */
export const METRIC_PREFIX = "tracker_";

type Definitions = Readonly<Record<string, MetricDefinition>>;
type NameOf<D extends Definitions, Kind> = {
  [N in keyof D]: D[N] extends Kind ? N : never;
}[keyof D] &
  string;

type PlainGauge<D extends Definitions> = {
  [N in keyof D]: D[N] extends GaugeDefinition
    ? keyof D[N]["labels"] extends never
      ? N
      : never
    : never;
}[keyof D] &
  string;

/** A value for each label; labels with a closed set of values take no other. */
export type LabelsOf<L extends LabelDefinitions> = {
  readonly [N in keyof L]: L[N] extends readonly (infer Value extends string)[] ? Value : string;
};
type AnyLabels = Readonly<Record<string, string>>;

/** One line of the text format: what follows the name of its family, and the value. */
type Sample = readonly [suffix: string, value: number];
type Family = { readonly definition: MetricDefinition; readonly read: () => readonly Sample[] };

const LABEL_ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", '"': '\\"' };

/** The instruments of a process by definitions, in the order in which the process declares them. */
export class DefinedMetrics<D extends Definitions> {
  readonly #definitions: D;
  readonly #families = new Map<string, Family>();

  constructor(definitions: D) {
    this.#definitions = definitions;
  }

  counter<N extends NameOf<D, CounterDefinition>>(name: N): Counter<D[N]["labels"]> {
    const counter = new Counter<D[N]["labels"]>(this.#definitions[name]?.labels ?? {});
    this.#declare(name, () => counter.read());
    return counter;
  }

  /** A counter that something else counts. It is read at each scrape and must only rise. */
  counted<N extends NameOf<D, CounterDefinition>>(
    name: N,
    read: () => readonly (readonly [LabelsOf<D[N]["labels"]>, number])[],
  ): void {
    this.#declare(name, () =>
      read().map(([labels, value]) => [renderLabels(Object.entries(labels)), value]),
    );
  }

  histogram<N extends NameOf<D, HistogramDefinition>>(name: N): Histogram<D[N]["labels"]> {
    const definition: MetricDefinition | undefined = this.#definitions[name];
    if (definition?.type !== "histogram") throw new Error(`${name} is not a histogram`);
    const histogram = new Histogram<D[N]["labels"]>(BOUNDS[definition.bounds], definition.labels);
    this.#declare(name, () => histogram.read());
    return histogram;
  }

  /** A value without labels. It is absent, not zero, while `read` returns undefined. */
  gauge(name: PlainGauge<D>, read: () => number | undefined): void {
    this.#declare(name, () => {
      const value = read();
      return value === undefined ? [] : [["", value]];
    });
  }

  /** Values by label, read at each scrape. */
  gauges<N extends NameOf<D, GaugeDefinition>>(
    name: N,
    read: () => readonly (readonly [LabelsOf<D[N]["labels"]>, number])[],
  ): void {
    this.#declare(name, () =>
      read().map(([labels, value]) => [renderLabels(Object.entries(labels)), value]),
    );
  }

  /** The sum of all series of a counter or gauge; undefined while it has no value. */
  sum(name: NameOf<D, CounterDefinition | GaugeDefinition>): number | undefined {
    const samples = this.#families.get(name)?.read() ?? [];
    return samples.length === 0 ? undefined : samples.reduce((sum, [, value]) => sum + value, 0);
  }

  /** The Prometheus text format. */
  render(): string {
    const lines: string[] = [];
    for (const [name, { definition, read }] of this.#families) {
      const { help, type } = definition;
      const full = `${METRIC_PREFIX}${name}`;
      lines.push(`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`);
      for (const [suffix, value] of read()) lines.push(`${full}${suffix} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }

  #declare(name: string, read: () => readonly Sample[]): void {
    if (this.#families.has(name)) throw new Error(`metric ${name} is declared twice`);
    const definition = this.#definitions[name];
    if (definition === undefined) throw new Error(`metric ${name} is not defined`);
    this.#families.set(name, { definition, read });
  }
}

/** The instruments of a process; their names, labels and meanings are in metric-definitions.ts. */
export class Metrics extends DefinedMetrics<typeof METRICS> {
  constructor() {
    super(METRICS);
  }
}

/** `labels` are left out by an instrument that has none. */
type Counted<L extends LabelDefinitions> = keyof L extends never
  ? [count?: number]
  : [count: number, labels: LabelsOf<L>];
type Observed<L extends LabelDefinitions> = keyof L extends never
  ? [value: number]
  : [value: number, labels: LabelsOf<L>];

export class Counter<L extends LabelDefinitions = NoLabels> {
  readonly #series: LabelledSeries<{ value: number }>;

  constructor(labels: LabelDefinitions) {
    this.#series = new LabelledSeries(labels, () => ({ value: 0 }));
  }

  add(...[count = 1, labels]: Counted<L>): void {
    this.#series.of(labels ?? {}).value += count;
  }

  /** One series, for code that counts every request. */
  series(labels: LabelsOf<L>): { value: number } {
    return this.#series.of(labels);
  }

  read(): readonly Sample[] {
    return this.#series.all().map(([labels, { value }]): Sample => [renderLabels(labels), value]);
  }
}

export class Histogram<L extends LabelDefinitions = NoLabels> {
  readonly #bounds: Float64Array;
  readonly #series: LabelledSeries<HistogramSeries>;

  /** The bounds are ascending. Larger values are in the bucket `+Inf`. */
  constructor(bounds: readonly number[], labels: LabelDefinitions) {
    const shared = Float64Array.from(bounds);
    this.#bounds = shared;
    this.#series = new LabelledSeries(labels, () => new HistogramSeries(shared));
  }

  observe(...[value, labels]: Observed<L>): void {
    this.#series.of(labels ?? {}).observe(value);
  }

  /** One series, for code that observes with every request. */
  series(labels: LabelsOf<L>): HistogramSeries {
    return this.#series.of(labels);
  }

  /** Buckets are cumulative in the text format, and counted one by one in memory. */
  read(): readonly Sample[] {
    return this.#series.all().flatMap(([labels, { counts, sum }]) => {
      let count = 0;
      const buckets = Array.from(counts, (ofBucket, index): Sample => {
        count += ofBucket;
        const le = String(this.#bounds[index] ?? "+Inf");
        return [`_bucket${renderLabels([...labels, ["le", le]])}`, count];
      });
      const rendered = renderLabels(labels);
      return [...buckets, [`_sum${rendered}`, sum], [`_count${rendered}`, count]];
    });
  }
}

/** An observation allocates nothing and takes less than 0.1 µs. */
class HistogramSeries {
  readonly #bounds: Float64Array;
  /** A count for each bound, and one for values above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: Float64Array) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    this.observeTimes(value, 1);
  }

  /** The same value several times. */
  observeTimes(value: number, times: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + times;
    this.sum += value * times;
  }
}

type Pair = readonly [name: string, value: string];

/** The series of an instrument by the values of its labels. Series whose values are all known exist from the start. */
class LabelledSeries<Series> {
  readonly #names: readonly string[];
  readonly #make: () => Series;
  readonly #known = new Map<string, readonly [readonly Pair[], Series]>();

  constructor(labels: LabelDefinitions, make: () => Series) {
    this.#names = Object.keys(labels);
    this.#make = make;
    for (const one of combinations(labels)) this.of(one);
  }

  /** The order of the labels does not matter. */
  of(labels: AnyLabels): Series {
    const pairs = this.#names.map((name): Pair => [name, labels[name] ?? ""]);
    const key = pairs.map(([, value]) => value).join("\n");
    const known = this.#known.get(key);
    if (known !== undefined) return known[1];
    const series = this.#make();
    this.#known.set(key, [pairs, series]);
    return series;
  }

  all(): (readonly [readonly Pair[], Series])[] {
    return [...this.#known.values()];
  }
}

/** Every combination of values of labels that are all closed sets; no combination if a label is open. */
function combinations(labels: LabelDefinitions): AnyLabels[] {
  let found: AnyLabels[] = [{}];
  for (const [name, values] of Object.entries(labels)) {
    if (typeof values === "string") return [];
    found = found.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return found;
}

function renderLabels(labels: readonly Pair[]): string {
  const pairs = labels.map(
    ([name, value]) =>
      `${name}="${value.replace(/[\\\n"]/g, (found) => LABEL_ESCAPES[found] ?? found)}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Upper bounds of histogram buckets in seconds. Larger values are in the bucket `+Inf`. */
export const BOUNDS = {
  /** From a redirect to a request that runs into its limit. */
  requests: [
    0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
    1, 2.5, 5, 10,
  ],
  /** From a write into the page cache to a disk that stands still. */
  disk: [
    0.000_001, 0.000_002_5, 0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5,
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
  ],
  /** From an insert or a small report to a report that runs into its limit. */
  freshness: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** The values that a label may have, or in words where they depend on the installation. Never an id of a workspace, offer or person. */
export type LabelDefinitions = Readonly<Record<string, readonly string[] | string>>;

type Common<L extends LabelDefinitions> = { readonly help: string; readonly labels: L };

export type CounterDefinition<L extends LabelDefinitions = LabelDefinitions> = Common<L> & {
  readonly type: "counter";
};
export type GaugeDefinition<L extends LabelDefinitions = LabelDefinitions> = Common<L> & {
  readonly type: "gauge";
};
export type HistogramDefinition<L extends LabelDefinitions = LabelDefinitions> = Common<L> & {
  readonly type: "histogram";
  readonly bounds: keyof typeof BOUNDS;
};
export type MetricDefinition = CounterDefinition | GaugeDefinition | HistogramDefinition;

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- a metric that has no labels
export type NoLabels = Readonly<Record<never, never>>;
const NO_LABELS: NoLabels = {};

/** A count that only rises. Series whose labels are listed exist from the start with 0, so that the first rise is seen. */
export function counter(help: string): CounterDefinition<NoLabels>;
export function counter<const L extends LabelDefinitions>(
  help: string,
  labels: L,
): CounterDefinition<L>;
export function counter(help: string, labels: LabelDefinitions = NO_LABELS): CounterDefinition {
  return { type: "counter", help, labels };
}

/** A value that is read at each scrape; absent, not zero, while it is unknown. */
export function gauge(help: string): GaugeDefinition<NoLabels>;
export function gauge<const L extends LabelDefinitions>(
  help: string,
  labels: L,
): GaugeDefinition<L>;
export function gauge(help: string, labels: LabelDefinitions = NO_LABELS): GaugeDefinition {
  return { type: "gauge", help, labels };
}

/** Durations in seconds. Each combination of labels has a series for each bound and three more. */
export function histogram(help: string, bounds: keyof typeof BOUNDS): HistogramDefinition<NoLabels>;
export function histogram<const L extends LabelDefinitions>(
  help: string,
  bounds: keyof typeof BOUNDS,
  labels: L,
): HistogramDefinition<L>;
export function histogram(
  help: string,
  bounds: keyof typeof BOUNDS,
  labels: LabelDefinitions = NO_LABELS,
): HistogramDefinition {
  return { type: "histogram", help, bounds, labels };
}

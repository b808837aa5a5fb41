import type { MetricDefinition } from "../../schemas/host/metric-definition.ts";
import { METRICS } from "../../schemas/host/metric-definitions.ts";

const PREFIX = "tracker_";

/** Labels that Prometheus adds. */
const TARGET_LABELS: ReadonlySet<string> = new Set(["job", "instance"]);

/** Every series of an installation by its name, as Prometheus stores it. */
const known = new Set(
  Object.entries(METRICS).flatMap(([name, { type }]) =>
    type === "histogram"
      ? ["_bucket", "_sum", "_count"].map((suffix) => `${PREFIX}${name}${suffix}`)
      : [`${PREFIX}${name}`],
  ),
);

/** The metrics in `names` that no process has, each once. */
export function unknownMetrics(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => !known.has(name)).toSorted();
}

/** Whether it is the name of a metric without the suffix of a series. */
export function isMetric(name: string): boolean {
  return name.startsWith(PREFIX) && Object.hasOwn(METRICS, name.slice(PREFIX.length));
}

/** The selected values of labels that a metric with a closed set of values never has, such as `name{label="value"}`. */
export function unknownLabels(expr: string): string[] {
  return [...expr.matchAll(/\btracker_([a-z0-9_]+)\{([^}]*)\}/g)].flatMap(
    ([, series = "", selectors = ""]) => {
      const name = series.replace(/_(?:bucket|sum|count)$/, "");
      const labels = (metricOf(series) ?? metricOf(name))?.labels ?? {};
      return [...selectors.matchAll(/([a-z_]+)(=~?)"([^"]*)"/g)]
        .filter(([, label = ""]) => !TARGET_LABELS.has(label))
        .filter(([, label = "", operator, value = ""]) => {
          const values = labels[label];
          if (values === undefined) return true;
          return operator === "=" && typeof values !== "string" && !values.includes(value);
        })
        .map(([selector]) => `${series}{${selector}}`);
    },
  );
}

function metricOf(name: string): MetricDefinition | undefined {
  return Object.entries<MetricDefinition>(METRICS).find(([one]) => one === name)?.[1];
}

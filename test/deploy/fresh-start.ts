import { BOUNDS, type MetricDefinition } from "../../schemas/host/metric-definition.ts";
import { METRICS } from "../../schemas/host/metric-definitions.ts";
import { alerts, ruleFiles } from "./alert-rules.ts";

type Labels = Readonly<Record<string, string>>;
type Series = { readonly series: string; readonly values: string };

const RUNNING = ["ingress", "processors", "api"] as const;

/**
 * A file for `promtool test rules`: every counter and histogram of every process exists from its first scrape at 0, and every gauge but
 * those that say what runs is unknown. No alert may fire.
 */
export function freshStartCases(): unknown {
  const input = RUNNING.flatMap((role) => seriesOf(role));
  return {
    rule_files: ruleFiles,
    evaluation_interval: "15s",
    tests: [
      {
        interval: "15s",
        input_series: input,
        alert_rule_test: ["15s", "1m"].flatMap((time) =>
          alerts.map(({ alert }) => ({ eval_time: time, alertname: alert, exp_alerts: [] })),
        ),
      },
    ],
  };
}

function seriesOf(role: (typeof RUNNING)[number]): Series[] {
  const target = { job: `tracker-${role}`, instance: role };
  const all = Object.entries<MetricDefinition>(METRICS).flatMap(([name, definition]) =>
    valuesOf(definition).flatMap((labels) => zeros(name, definition, { ...target, ...labels })),
  );
  const now = { ...target, role, version: "1.0.0", commit: "c0ffee" };
  return [
    ...all,
    { series: `up${render(target)}`, values: "1x20" },
    { series: `tracker_build_info${render(now)}`, values: "1x20" },
    { series: `tracker_process_start_time_seconds${render(target)}`, values: "1x20" },
    ...(role === "processors"
      ? [{ series: `tracker_clicks_lanes${render(target)}`, values: "0x2 5x20" }]
      : [{ series: `tracker_catalog_version${render(target)}`, values: "0x2 7x20" }]),
  ];
}

/** The series of a counter or histogram; a gauge gets none. */
function zeros(name: string, definition: MetricDefinition, labels: Labels): Series[] {
  if (definition.type === "gauge") return [];
  const series = (suffix: string, more: Labels = {}): Series => ({
    series: `tracker_${name}${suffix}${render({ ...labels, ...more })}`,
    values: "0x20",
  });
  if (definition.type === "counter") return [series("")];
  const bounds = [...BOUNDS[definition.bounds].map(String), "+Inf"];
  return [...bounds.map((le) => series("_bucket", { le })), series("_sum"), series("_count")];
}

/** Each combination of the values of labels with a closed set; labels of other metrics are left out. */
function valuesOf({ labels }: MetricDefinition): Labels[] {
  return Object.entries(labels).reduce<Labels[]>(
    (combinations, [label, values]) =>
      typeof values === "string"
        ? combinations
        : combinations.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}

function render(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `{${pairs.join(", ")}}`;
}

import type { MetricDefinition } from "../schemas/host/metric-definition.ts";
import { METRICS_BY_PROCESS } from "../schemas/host/metric-definitions.ts";
import { METRIC_PREFIX } from "../schemas/host/metrics.ts";
import { withTable } from "./page-table.ts";

/** The page with the table of all metrics between its two marks. @throws {Error} when they are missing. */
export function withMetricsTable(page: string): string {
  const rows = METRICS_BY_PROCESS.flatMap(({ processes, metrics }) =>
    Object.entries<MetricDefinition>(metrics).map(([name, { type, labels, help }]) => {
      const shown = Object.entries(labels).map(([label, values]) => labelText(label, values));
      return `| `.concat(
        [
          `\`${METRIC_PREFIX}${name}\``,
          type,
          shown.join("; ") || "—",
          processes.join(", "),
          help,
        ].join(" | "),
        " |",
      );
    }),
  );
  const head = ["| name | type | labels | process | meaning |", "|---|---|---|---|---|"];
  return withTable(page, "metrics", [...head, ...rows]);
}

function labelText(label: string, values: readonly string[] | string): string {
  return `\`${label}\`: ${typeof values === "string" ? values : values.join(", ")}`;
}

import type { MetricDefinition } from "../schemas/host/metric-definition.ts";
import { METRICS_BY_PROCESS } from "../schemas/host/metric-definitions.ts";
import { METRIC_PREFIX } from "../schemas/host/metrics.ts";

const TABLE = /(<!-- metrics: [^\n]*-->\n)[\s\S]*(<!-- end of metrics -->)/;

/** The page with the table of all metrics between its two marks. @throws {Error} when they are missing. */
export function withMetricsTable(page: string): string {
  if (!TABLE.test(page))
    throw new Error("deploy/pages/metrics.md has lost the marks around its table");
  return page.replace(TABLE, (_, begin: string, end: string) => `${begin}${renderTable()}\n${end}`);
}

function renderTable(): string {
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
  return ["| name | type | labels | process | meaning |", "|---|---|---|---|---|", ...rows].join(
    "\n",
  );
}

function labelText(label: string, values: readonly string[] | string): string {
  return `\`${label}\`: ${typeof values === "string" ? values : values.join(", ")}`;
}

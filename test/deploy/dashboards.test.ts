import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { metricsIn } from "./alert-rules.ts";
import { type Dashboard, dashboardFiles, graphsOf, readDashboard } from "./dashboards.ts";
import { unknownMetrics } from "./known-metrics.ts";
import { hasPromtool, promtool, WITHOUT_PROMTOOL } from "./promtool.ts";

test("there is a dashboard for each part, each with an address of its own", () => {
  const uids = dashboardFiles.map((file) => readDashboard(file).uid);
  const parts = ["api", "conversions", "ingress", "lanes", "overview", "stores"];
  expect(uids).toEqual(parts.map((part) => `tracker-${part}`));
  expect(dashboardFiles).toEqual(uids.map((uid) => `${uid}.json`));
});

describe.each(dashboardFiles)("%s", (file) => {
  const dashboard = readDashboard(file);
  const graphs = graphsOf(dashboard);

  test("has panels with ids of their own that do not overlap", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(overlapsIn(dashboard)).toEqual([]);
  });

  test("lets the reader choose data source, job and instance, in every query", () => {
    const variables = dashboard.templating.list.map(({ name }) => name);
    expect(variables).toEqual(["datasource", "job", "instance"]);
    for (const { expr } of graphs.flatMap(({ targets }) => targets)) {
      const selectors = expr.match(/\{[^}]*\}/g) ?? [];
      expect(selectors.length, expr).toBeGreaterThan(0);
      for (const selector of selectors)
        expect(selector).toContain('job=~"$job", instance=~"$instance"');
    }
  });

  test("asks only for metrics that a process has", () => {
    const names = graphs.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(names.length).toBeGreaterThan(5);
    expect(unknownMetrics(names)).toEqual([]);
  });

  test("uses counters as rates only, over an interval that fits the scrapes", () => {
    for (const { expr } of graphs.flatMap(({ targets }) => targets)) {
      const counters = expr.match(/\w+_(?:total|bucket|count)\{[^}]*\}/g) ?? [];
      const rates =
        expr.match(/(?:rate|increase)\(\w+\{[^}]*\}\[\$__(?:rate_interval|range)\]\)/g) ?? [];
      expect(rates.length, expr).toBe(counters.length);
      expect(expr).not.toMatch(/\brate\([^)]*\[(?!\$__rate_interval\])/);
    }
  });

  test("names each line of a panel that has several", () => {
    for (const { title, targets } of graphs) {
      const legends = targets.map(({ legendFormat }) => legendFormat);
      expect(new Set(legends).size, title).toBe(legends.length);
    }
  });

  test.skipIf(!hasPromtool)(`has queries that Prometheus can parse${WITHOUT_PROMTOOL}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "tracker-dashboards-"));
    const path = join(folder, "queries.yaml");
    const rules = graphs
      .flatMap(({ targets }) => targets)
      .map(({ expr }, index) => ({ record: `query:${index}`, expr: withoutVariables(expr) }));
    writeFileSync(path, stringify({ groups: [{ name: "queries", rules }] }));
    const { status, text } = promtool("check", "rules", "--lint=none", path);
    rmSync(folder, { recursive: true });
    expect(status, text).toBe(0);
  });
});

/** Grafana replaces its variables before it asks. */
function withoutVariables(expr: string): string {
  return expr
    .replaceAll("$__rate_interval", "5m")
    .replaceAll("$__range", "3h")
    .replaceAll(/\$(job|instance)\b/g, ".+");
}

function overlapsIn({ panels }: Dashboard): string[] {
  return panels.flatMap((one, index) =>
    panels
      .slice(index + 1)
      .filter(({ gridPos: b }) => {
        const a = one.gridPos;
        return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
      })
      .map((other) => `${one.title} and ${other.title}`),
  );
}

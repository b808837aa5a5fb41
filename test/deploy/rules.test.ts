import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { FOUR_LANES } from "../samples/four-lanes.ts";
import { alerts, cases, metricsIn, OBSERVE, recorded, ruleFiles } from "./alert-rules.ts";
import { freshStartCases } from "./fresh-start.ts";
import { unknownLabels, unknownMetrics } from "./known-metrics.ts";
import { hasPromtool, promtool, WITHOUT_PROMTOOL } from "./promtool.ts";

const named = alerts.map((alert) => [alert.alert, alert] as const);

describe("the alerts", () => {
  test("are there, and each name is used once", () => {
    expect(alerts.length).toBeGreaterThan(40);
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    expect(new Set(recorded.map(({ record }) => record)).size).toBe(recorded.length);
  });

  test.each(named)("%s links to its runbook and says what is wrong", (name, { annotations }) => {
    expect(name).toMatch(/^Tracker([A-Z][a-z]+)+$/);
    expect(annotations.runbook_url).toBe(`{{ $externalLabels.runbooks }}/${name}.md`);
    expect(annotations.summary).toMatch(/^[A-Z][^{}]*\.$/);
    expect(annotations.description).toMatch(/\{\{ .*\$(value|labels)|^[^{]*incarnation/);
  });

  test.each(named)("%s has a case in which it fires and one in which it is quiet", (name) => {
    const own = cases.filter(({ alert }) => alert === name);
    expect(own.filter(({ fires }) => fires).length).toBeGreaterThan(0);
    expect(own.filter(({ fires }) => !fires).length).toBeGreaterThan(0);
  });

  test("are what the cases are about, and the name of a case says what it expects", () => {
    const names = new Set(alerts.map(({ alert }) => alert));
    for (const { name, alert, fires } of cases) {
      expect(names).toContain(alert);
      expect(name).toMatch(new RegExp(`^${alert} ${fires ? "fires" : "is quiet"}: `));
    }
  });

  test("use every recorded series, and none that nobody records", () => {
    const known = new Set(recorded.map(({ record }) => record));
    const used = new Set(alerts.flatMap(({ expr }) => expr.match(/\b[a-z]+:[a-z0-9_:]+/g) ?? []));
    expect(used).toEqual(known);
  });

  test("ask only for metrics and labels that a process has", () => {
    const exprs = [...alerts, ...recorded].map(({ expr }) => expr);
    expect(unknownMetrics(exprs.flatMap((expr) => metricsIn(expr)))).toEqual([]);
    expect(exprs.flatMap((expr) => unknownLabels(expr))).toEqual([]);
  });

  test("expect a writer for each lane of an installation", () => {
    const { expr } = alerts.find(({ alert }) => alert === "TrackerLaneWithoutOwner") ?? {};
    const wanted = `(max(tracker_clicks_lanes_wanted) or vector(${FOUR_LANES.all.length}))`;
    expect(expr?.trim()).toBe(`(sum(tracker_clicks_lanes) or vector(0)) < ${wanted}`);
  });
});

describe.skipIf(!hasPromtool)(`promtool${WITHOUT_PROMTOOL}`, () => {
  test("accepts the scrape configuration and every rule", () => {
    const { status, text } = promtool("check", "config", join(OBSERVE, "prometheus.yml"));
    expect(status, text).toBe(0);
    const checked = promtool("check", "rules", "--lint=all", "--lint-fatal", ...ruleFiles);
    expect(checked.status, checked.text).toBe(0);
    const found = [...checked.text.matchAll(/(\d+) rules found/g)].map(([, count]) => count);
    const sum = found.reduce((total, count) => total + Number(count), 0);
    expect(sum).toBe(alerts.length + recorded.length);
  });

  test("finds that no alert fires in the first minute of a fresh start", () => {
    const folder = mkdtempSync(join(tmpdir(), "tracker-rules-"));
    const path = join(folder, "fresh-start.yaml");
    writeFileSync(path, stringify(freshStartCases()));
    const { status, text } = promtool("test", "rules", path);
    rmSync(folder, { recursive: true });
    expect(status, text).toBe(0);
  });
});

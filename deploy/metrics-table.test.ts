import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { METRICS } from "../schemas/host/metric-definitions.ts";
import { projectFile } from "../schemas/host/project-root.ts";
import { withMetricsTable } from "./metrics-table.ts";

test("the page of metrics is that of the definitions: else `npm run metrics:table`", () => {
  const page = readFileSync(projectFile("deploy", "pages", "metrics.md"), "utf8");
  expect(page).toBe(withMetricsTable(page));
});

test("a page without its marks is not written", () => {
  expect(() => withMetricsTable("# Metrics\n")).toThrow("marks");
});

test("a metric has the form of its type, its labels are words, its meaning is a sentence", () => {
  for (const [name, { type, labels, help }] of Object.entries(METRICS)) {
    expect(name).toMatch(type === "counter" ? /_total$/ : /^(?!.*_(?:total|count|sum|bucket)$)/);
    for (const label of Object.keys(labels)) expect(label).toMatch(/^[a-z]+$/);
    expect(help, name).toMatch(/^[A-Z1].*[.]$/);
  }
});

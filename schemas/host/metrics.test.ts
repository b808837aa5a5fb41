import { expect, test } from "vitest";
import { Metrics } from "./metrics.ts";

function valuesOf(metrics: Metrics): string[] {
  return metrics
    .render()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

test("counts with the same labels are one series, however they are counted", () => {
  const metrics = new Metrics();
  const clicks = metrics.counter("clicks_total", "Clicks.");
  expect(valuesOf(metrics)).toEqual(["clicks_total 0"]);
  clicks.add();
  clicks.series({}).value += 1;
  clicks.add(2, { kind: "bot" });
  clicks.series({ kind: "bot" }).value += 3;
  clicks.add(1, { kind: "human" });
  expect(valuesOf(metrics)).toEqual([
    "clicks_total 2",
    'clicks_total{kind="bot"} 5',
    'clicks_total{kind="human"} 1',
  ]);
});

test("labels are escaped, a gauge without a value is absent, and no name is declared twice", () => {
  const metrics = new Metrics();
  metrics.counter("faults_total", "Faults.").add(1, { why: 'a "b"\\c\nd' });
  metrics.gauge("age_seconds", "Age.", () => undefined);
  metrics.gauge("depth", "Depth.", () => 7);
  expect(valuesOf(metrics)).toEqual(['faults_total{why="a \\"b\\"\\\\c\\nd"} 1', "depth 7"]);
  expect(() => metrics.counter("depth", "Depth.")).toThrow("declared twice");
});

import { expect, test } from "vitest";
import { BOUNDS, counter, gauge, histogram } from "./metric-definition.ts";
import { DefinedMetrics } from "./metrics.ts";

const DEFINITIONS = {
  clicks_total: counter("Clicks.", { kind: "any word" }),
  faults_total: counter("Faults.", { why: ["slow", "away"], where: ["disk", "net"] }),
  restarts_total: counter("Restarts."),
  age_seconds: gauge("Age."),
  depth: gauge("Depth."),
  depths: gauge("Depths.", { lane: "number" }),
  insert_seconds: histogram("How long inserts took.", "freshness", { table: "name" }),
  read_seconds: histogram("How long reads took.", "disk"),
} as const;

const someMetrics = (): DefinedMetrics<typeof DEFINITIONS> => new DefinedMetrics(DEFINITIONS);

function valuesOf(metrics: { render(): string }): string[] {
  return metrics
    .render()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
}

test("counts with the same labels are one series, however they are counted", () => {
  const metrics = someMetrics();
  const clicks = metrics.counter("clicks_total");
  clicks.add(2, { kind: "bot" });
  clicks.series({ kind: "bot" }).value += 3;
  clicks.add(1, { kind: "human" });
  const restarts = metrics.counter("restarts_total");
  restarts.add();
  restarts.series({}).value += 1;
  expect(valuesOf(metrics)).toEqual([
    'tracker_clicks_total{kind="bot"} 5',
    'tracker_clicks_total{kind="human"} 1',
    "tracker_restarts_total 2",
  ]);
});

test("a counter shows every series that its labels allow from the start, with 0", () => {
  const metrics = someMetrics();
  const faults = metrics.counter("faults_total");
  metrics.counter("restarts_total");
  faults.add(1, { where: "net", why: "away" });
  expect(valuesOf(metrics)).toEqual([
    'tracker_faults_total{why="slow",where="disk"} 0',
    'tracker_faults_total{why="slow",where="net"} 0',
    'tracker_faults_total{why="away",where="disk"} 0',
    'tracker_faults_total{why="away",where="net"} 1',
    "tracker_restarts_total 0",
  ]);
});

test("labels are escaped, a gauge without a value is absent, and no name is declared twice", () => {
  const metrics = someMetrics();
  metrics.counter("clicks_total").add(1, { kind: 'a "b"\\c\nd' });
  metrics.gauge("age_seconds", () => undefined);
  metrics.gauge("depth", () => 7);
  metrics.gauges("depths", () => [
    [{ lane: "1" }, 3],
    [{ lane: "2" }, 4],
  ]);
  expect(valuesOf(metrics)).toEqual([
    'tracker_clicks_total{kind="a \\"b\\"\\\\c\\nd"} 1',
    "tracker_depth 7",
    'tracker_depths{lane="1"} 3',
    'tracker_depths{lane="2"} 4',
  ]);
  expect(() => metrics.gauge("depth", () => 8)).toThrow("declared twice");
});

type Sample = {
  readonly suffix: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
};

const LABEL = String.raw`\w+="(?:[^"\\]|\\.)*"`;
const SAMPLE = new RegExp(String.raw`^([a-z_]+)(?:\{(${LABEL}(?:,${LABEL})*)\})? ([\d.e+-]+)$`);

/** The families of a text as a collector reads them. @throws for a line that a collector would refuse. */
function parseExposition(text: string): Map<string, { type: string; samples: Sample[] }> {
  const families = text.split(/^# HELP (?=\w+ )/m).slice(1);
  return new Map(
    families.map((family) => {
      const [help = "", typed = "", ...lines] = family.trimEnd().split("\n");
      const [name = ""] = help.split(" ");
      const type = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(typed);
      if (type?.[1] !== name) throw new Error(`not the type of ${name}: ${typed}`);
      return [name, { type: type[2] ?? "", samples: lines.map((line) => parseSample(name, line)) }];
    }),
  );
}

function parseSample(family: string, line: string): Sample {
  const [, name = "", labels = "", value] = SAMPLE.exec(line) ?? [];
  if (!name.startsWith(family)) throw new Error(`not a sample of ${family}: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)];
  return {
    suffix: name.slice(family.length),
    labels: new Map(pairs.map(([, key = "", shown = ""]) => [key, shown])),
    value: Number(value),
  };
}

test("a histogram is read back as cumulative buckets, sum and count of each series (issue 14, 12)", () => {
  const metrics = someMetrics();
  metrics.counter("restarts_total").add(2);
  const seconds = metrics.histogram("insert_seconds");
  for (const took of [0.0005, 0.005, 0.0051, 59, 61, 1_000])
    seconds.observe(took, { table: "click" });
  seconds.series({ table: "impression" }).observe(0.3);
  const families = parseExposition(metrics.render());
  const { type, samples } = families.get("tracker_insert_seconds") ?? { type: "", samples: [] };
  expect([type, families.get("tracker_restarts_total")?.type]).toEqual(["histogram", "counter"]);
  const of = (table: string, suffix: string): Sample[] =>
    samples.filter((sample) => sample.labels.get("table") === table && sample.suffix === suffix);
  const buckets = of("click", "_bucket").map(({ labels, value }) => [labels.get("le"), value]);
  expect(buckets).toEqual([
    ["0.005", 2],
    ..."0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 25".split(" ").map((le) => [le, 3]),
    ["60", 4],
    ["+Inf", 6],
  ]);
  expect(of("click", "_count").map(({ value }) => value)).toEqual([6]);
  expect(of("click", "_sum")[0]?.value).toBeCloseTo(1_120.0106, 9);
  const impressions = of("impression", "_bucket").map(({ value }) => value);
  expect(impressions.join("")).toBe("00000011111111");
  expect(samples).toHaveLength(2 * 16);
});

test("a histogram without labels exists from the start; one with open labels with its first value", () => {
  const metrics = someMetrics();
  metrics.histogram("insert_seconds");
  metrics.histogram("read_seconds");
  const lines = valuesOf(metrics);
  expect(lines).toHaveLength(BOUNDS.disk.length + 3);
  expect(lines[0]).toBe('tracker_read_seconds_bucket{le="0.000001"} 0');
  expect(lines.at(-1)).toBe("tracker_read_seconds_count 0");
});

test("bounds rise in steps of at most 2.5", () => {
  for (const bounds of Object.values(BOUNDS)) {
    const steps = bounds.slice(1).map((bound, i) => bound / (bounds[i] ?? Number.NaN));
    expect(Math.min(...steps)).toBeGreaterThan(1.5);
    expect(Math.max(...steps)).toBeLessThan(2.6);
  }
});

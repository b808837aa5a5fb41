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
  const metrics = new Metrics();
  metrics.counter("inserts_total", "Inserts.").add(2);
  const seconds = metrics.histogram("insert_seconds", "How long inserts took.");
  for (const took of [0.0005, 0.001, 0.0011, 29, 31, 1_000])
    seconds.observe(took, { table: "click" });
  seconds.series({ table: "impression" }).observe(0.3);
  const families = parseExposition(metrics.render());
  const { type, samples } = families.get("insert_seconds") ?? { type: "", samples: [] };
  expect([type, families.get("inserts_total")?.type]).toEqual(["histogram", "counter"]);
  const of = (table: string, suffix: string): Sample[] =>
    samples.filter((sample) => sample.labels.get("table") === table && sample.suffix === suffix);
  const buckets = of("click", "_bucket").map(({ labels, value }) => [labels.get("le"), value]);
  expect(buckets).toEqual([
    ["0.001", 2],
    ["0.0025", 3],
    ..."0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10".split(" ").map((le) => [le, 3]),
    ["30", 4],
    ["+Inf", 6],
  ]);
  expect(of("click", "_count").map(({ value }) => value)).toEqual([6]);
  expect(of("click", "_sum")[0]?.value).toBeCloseTo(1_060.0026, 9);
  const impressions = of("impression", "_bucket").map(({ value }) => value);
  expect(impressions.join("")).toBe("000000001111111");
  expect(samples).toHaveLength(2 * 17);
});

test("a histogram without observations has no series (issue 14, 12)", () => {
  const metrics = new Metrics();
  metrics.histogram("insert_seconds", "How long inserts took.");
  expect(valuesOf(metrics)).toEqual([]);
});

import { z } from "zod";
import {
  type BenchRun,
  type FigureName,
  isSameMachine,
  type Machine,
} from "../figures/bench-run.ts";
import { quietestRun } from "../figures/run-file.ts";

type Source =
  | {
      readonly figure: FigureName;
      readonly unit: string;
      readonly meaning: string;
      /** Counts until the bench has run for the first time. */
      readonly until?: number;
    }
  | { readonly assumed: number; readonly unit: string; readonly meaning: string };

/** Everything that the tables are calculated from: figures of benches, and assumptions that your traffic must replace. */
const SOURCES = {
  oneLinkRedirectsPerSecond: measured(
    "oneLinkRedirectsPerSecond",
    "/s",
    "redirects of one worker, full load",
  ),
  largeCatalogRatio: measured(
    "largeCatalogRatio",
    "",
    "the same with a large catalog, share of it",
  ),
  ingressResidentMb: measured("ingressResidentMb", "MB", "memory of a worker, large catalog"),
  recordBytes: measured("recordBytes", "B", "a record in journal and stream"),
  ingressUsPerClick: measured("ingressUsPerClick", "µs", "ingress at 10,000/s, processor time"),
  processorsUsPerClick: measured("processorsUsPerClick", "µs", "processors at 10,000/s"),
  natsUsPerClick: measured("natsUsPerClick", "µs", "one NATS server at 10,000/s"),
  clickhouseUsPerClick: measured(
    "clickhouseUsPerClick",
    "µs",
    "ClickHouse at 10,000/s, with merges",
  ),
  writerRowsPerSecond: measured("writerRowsPerSecond", "/s", "rows of one lane's writer"),
  storedBytesPerClick: measured("storedBytesPerClick", "B", "a click on ClickHouse's disk"),
  conversionsPerSecond: measured("conversionsPerSecond", "/s", "conversions on two cores"),
  deliveriesPerSecond: measured("deliveriesPerSecond", "/s", "deliveries of one process"),
  streamMessageMs: {
    ...measured("streamMessageMs", "ms", "a synced message of one stream"),
    until: 0.6,
  },
  streamMegabyteMs: {
    ...measured("streamMegabyteMs", "ms", "each MB of such a message"),
    until: 2,
  },
  streamDiskShare: assumed(0.25, "", "the stream's bytes on disk, compressed by s2"),
  averageShare: assumed(0.4, "", "average clicks/s ÷ peak"),
  uniqueShare: assumed(0.6, "", "share of clicks that are unique"),
  hottestOfferShare: assumed(0.2, "", "share of clicks on the hottest offer"),
  conversionShare: assumed(0.01, "", "conversions ÷ clicks"),
  deliveriesPerConversion: assumed(1.5, "", "deliveries ÷ conversions"),
  utilisation: assumed(0.5, "", "share of a core, disk or lane to plan with"),
  newConnectionShare: assumed(0.8, "", "clicks on a new TLS connection"),
  tlsUsPerConnection: assumed(200, "µs", "processor time of a new TLS connection"),
  publicBytesPerClick: assumed(7_000, "B", "network of a click with TLS, both ways"),
  outageSeconds: assumed(1_800, "s", "outage that the journals must hold"),
  networkMs: assumed(0.3, "ms", "one way between two hosts"),
  workersPerHost: assumed(16, "", "ingress workers on one host"),
  clickhouseCores: assumed(64, "", "cores of the largest ClickHouse server"),
  clickhouseDiskTb: assumed(30, "TB", "disk of the largest ClickHouse server"),
  memoryGbPerClickhouseCore: assumed(4, "GB", "memory for a core of ClickHouse"),
  keptDays: assumed(30, "", "days of clicks on ClickHouse's disk"),
} as const satisfies Readonly<Record<string, Source>>;

export type InputName = keyof typeof SOURCES;
export type Inputs = Readonly<Record<InputName, number>>;

/** Where a value comes from. `run` is undefined for an assumption. */
export type Origin = {
  readonly name: InputName;
  readonly value: number;
  readonly unit: string;
  readonly meaning: string;
  readonly mark: "measured here" | "measured elsewhere" | "assumed";
  readonly run: BenchRun | undefined;
};

/** Each input with the figure of the quietest machine. @throws {Error} with the bench to run, if a figure was never measured. */
export function readOrigins(runs: readonly BenchRun[], here: Machine): Origin[] {
  return inputNames().map((name): Origin => {
    const source: Source = SOURCES[name];
    const { unit, meaning } = source;
    if ("assumed" in source)
      return { name, value: source.assumed, unit, meaning, mark: "assumed", run: undefined };
    const run = quietestRun(runs, source.figure);
    const value = run?.figures[source.figure] ?? source.until;
    if (value === undefined)
      throw new Error(
        `No run in test/bench/figures/runs.jsonl has ${source.figure} (${meaning}). Run the benches with npm run bench.`,
      );
    if (run === undefined) return { name, value, unit, meaning, mark: "assumed", run };
    const mark = isSameMachine(run.machine, here) ? "measured here" : "measured elsewhere";
    return { name, value, unit, meaning, mark, run };
  });
}

/** @throws {Error} if an input is missing. */
export function inputsOf(origins: readonly Origin[]): Inputs {
  const values = Object.fromEntries(origins.map(({ name, value }) => [name, value]));
  return z.record(z.enum(inputNames()), z.number()).parse(values);
}

function inputNames(): InputName[] {
  return Object.keys(SOURCES).filter((name): name is InputName => name in SOURCES);
}

function measured<F extends FigureName>(figure: F, unit: string, meaning: string) {
  return { figure, unit, meaning } as const;
}

function assumed(value: number, unit: string, meaning: string) {
  return { assumed: value, unit, meaning } as const;
}

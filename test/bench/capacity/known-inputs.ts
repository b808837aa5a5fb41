import type { BenchRun, Machine } from "../figures/bench-run.ts";
import { type Inputs, inputsOf, type Origin, readOrigins } from "./inputs.ts";

export const HERE: Machine = { processor: "AMD EPYC", cores: 2, node: "v20.20.2" };

/** The figures of 2026-11-23, so that tests do not change when a bench is run. */
const RUN: BenchRun = {
  bench: "all",
  machine: HERE,
  date: "2026-11-23",
  commit: "f14d9337",
  busy: 0.1,
  figures: {
    oneLinkRedirectsPerSecond: 54_323,
    largeCatalogRatio: 0.8,
    ingressResidentMb: 413,
    recordBytes: 891,
    ingressUsPerClick: 42.6,
    processorsUsPerClick: 21,
    natsUsPerClick: 12.5,
    clickhouseUsPerClick: 28.9,
    writerRowsPerSecond: 59_649,
    insertedRowsPerSecond: 133_213,
    storedBytesPerClick: 67.4,
    conversionsPerSecond: 1_150,
    deliveriesPerSecond: 4_865,
    streamMessageMs: 0.6,
    streamMegabyteMs: 2,
  },
};

export function knownOrigins(more: readonly BenchRun[] = [], here: Machine = HERE): Origin[] {
  return readOrigins([RUN, ...more], here);
}

export function knownInputs(): Inputs {
  return inputsOf(knownOrigins());
}

import { ingressWorkers, laneShares, neededLanes, redirectsPerWorkerMax } from "./arithmetic.ts";
import type { Inputs } from "./inputs.ts";
import { insertBusyShare, insertSeconds } from "./inserts.ts";
import { allShipping, messageRecordsMax, streamServiceMs, streamUtilisation } from "./messages.ts";
import {
  type PipelineOptions,
  type PipelineResult,
  type StageResult,
  simulatePipeline,
} from "./model/pipeline-model.ts";

const US = 1_000_000;
/** A model of more messages needs no more time: each lane has as many inserts in a second. */
const LARGE_MESSAGES_PER_SECOND = 20_000;
const SECONDS = { usual: 5, large: 2 } as const;
const WARM_UP_SECONDS = { usual: 2, large: 1 } as const;
/** Groups of at least some clicks; a tick is small against the age of a message. */
const TICK_MS = 4;

/** How many lanes and streams: those of the code, or what a larger installation would need. */
export type Layout = { readonly lanes: number; readonly streams: number };

export type StageCheck = StageResult & {
  /** By the formulas. Above 1 the stage cannot keep up. */
  readonly expected: number;
};

export type SimulationCheck = {
  readonly peak: number;
  readonly layout: Layout;
  readonly result: PipelineResult;
  readonly stages: readonly StageCheck[];
  readonly messagesExpected: number;
};

/** The pipeline of the arithmetic at this peak. */
export function pipelineOf(
  peak: number,
  { lanes, streams }: Layout,
  inputs: Inputs,
): Omit<PipelineOptions, "seed"> {
  const { messagesPerSecond } = allShipping(peak, lanes, inputs);
  const size = messagesPerSecond > LARGE_MESSAGES_PER_SECOND ? "large" : "usual";
  return {
    clicksPerSecond: peak,
    seconds: SECONDS[size],
    warmUpSeconds: WARM_UP_SECONDS[size],
    tickMs: TICK_MS,
    workers: ingressWorkers(peak, inputs),
    redirectUs: US / redirectsPerWorkerMax(inputs),
    laneShares: laneShares(inputs, lanes),
    streams,
    streamMs: (rows) => streamServiceMs(rows, inputs),
    networkMs: inputs.networkMs,
    messageRecordsMax: messageRecordsMax(inputs),
    recordBytes: inputs.recordBytes,
    writerProcesses: writerProcesses(peak, lanes, inputs),
    rowUs: US / inputs.writerRowsPerSecond,
    insertMs: (rows) => insertSeconds(rows, inputs) * 1_000,
    clickhouseCores: inputs.clickhouseCores,
  };
}

/** Runs the model and puts the arithmetic beside it. */
export function checkBySimulation(
  peak: number,
  layout: Layout,
  { inputs, seed }: { readonly inputs: Inputs; readonly seed: number },
): SimulationCheck {
  const options = pipelineOf(peak, layout, inputs);
  const result = simulatePipeline({ ...options, seed });
  const stages = result.stages.map((stage) => ({
    ...stage,
    expected: expectedUtilisation(stage.stage, options, { layout, inputs }),
  }));
  const { messagesPerSecond } = allShipping(peak, layout.lanes, inputs);
  return { peak, layout, result, stages, messagesExpected: messagesPerSecond };
}

/** One process for each lane that needs one. */
function writerProcesses(peak: number, lanes: number, inputs: Inputs): number {
  return Math.min(lanes, neededLanes(peak, inputs));
}

function expectedUtilisation(
  stage: StageResult["stage"],
  options: Omit<PipelineOptions, "seed">,
  { layout, inputs }: { readonly layout: Layout; readonly inputs: Inputs },
): number {
  const { clicksPerSecond, workers, redirectUs, rowUs, writerProcesses: processes } = options;
  const shares = options.laneShares;
  switch (stage) {
    case "ingress":
      return (clicksPerSecond * redirectUs) / US / workers;
    case "streams":
      return streamUtilisation(clicksPerSecond, layout, inputs);
    case "writers":
      return (clicksPerSecond * rowUs) / US / processes;
    case "hottest lane's writer": {
      const ofProcess = shares.filter((_, lane) => lane % processes === 0);
      const share = ofProcess.reduce((sum, one) => sum + one, 0);
      return (clicksPerSecond * share * rowUs) / US;
    }
    case "inserts": {
      const busy = shares.map((share) => insertBusyShare(clicksPerSecond * share, inputs));
      return busy.reduce((sum, one) => sum + one, 0) / shares.length;
    }
  }
}

import { laneShares } from "./arithmetic.ts";
import { CODE } from "./code-limits.ts";
import type { Inputs } from "./inputs.ts";
import { insertSeconds } from "./inserts.ts";
import { messageRecordsMax } from "./messages.ts";
import type { PipelineOptions } from "./model/pipeline-model.ts";

/** How long an operating system lets a process go on while others wait. */
const QUANTUM_MS = 3;
const US = 1_000_000;

/**
 * The pipeline as `npm run bench -- pipeline` runs it: every process on the cores of one machine, one ingress, all lanes in one
 * process, and a NATS that syncs once a second, so that a message costs its processor time only.
 */
export function oneMachine(
  clicksPerSecond: number,
  cores: number,
  inputs: Inputs,
): Omit<PipelineOptions, "seed"> {
  const insertUs = US / inputs.insertedRowsPerSecond;
  return {
    clicksPerSecond,
    seconds: 10,
    warmUpSeconds: 3,
    tickMs: 2,
    workers: 1,
    redirectUs: inputs.ingressUsPerClick,
    // The bench spreads its clicks evenly over 100 offers.
    laneShares: laneShares({ ...inputs, hottestOfferShare: 0 }, CODE.lanes),
    streams: CODE.streams,
    streamMs: () => 0,
    networkMs: 0,
    messageRecordsMax: messageRecordsMax(inputs),
    recordBytes: inputs.recordBytes,
    writerProcesses: 1,
    rowUs: inputs.processorsUsPerClick,
    insertMs: (rows) => insertSeconds(rows, inputs) * 1_000,
    clickhouseCores: cores,
    oneMachine: {
      cores,
      quantumMs: QUANTUM_MS,
      natsUs: inputs.natsUsPerClick,
      mergeUs: inputs.clickhouseUsPerClick - insertUs,
    },
  };
}

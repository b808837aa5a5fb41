import {
  clickhouseCores,
  clickhouseTb,
  conversionCores,
  hottestLaneShare,
  streamTb,
  uniqueVisits,
} from "./arithmetic.ts";
import { CODE } from "./code-limits.ts";
import type { Inputs } from "./inputs.ts";
import { streamUtilisation } from "./messages.ts";

/** Something that stops working as promised at a rate of clicks. */
export type Limit = {
  readonly name: string;
  /** Peak at which it is reached. */
  readonly clicksPerSecond: number;
  /** Whether a setting or more hardware raises it. Otherwise the code has it fixed. */
  readonly isRaisable: boolean;
  /** What raises it, or where the code has it fixed and what happens beyond it. */
  readonly remedy: string;
};

const RATE_MAX = 100_000_000;
/** After this time a click counts as stored, so that look-ups find it in ClickHouse. */
const STORED_WITHIN_SECONDS = 2;
/** Two cores of Postgres and a processor are measured; more are not. */
const MEASURED_CONVERSION_CORES = 2;

const YOUNG_CLICKS_BYTES = [
  [CODE.youngBytesDefault, true, "set YOUNG_CLICKS_BYTES, by the memory of the writers"],
  [CODE.youngBytesMax, false, "look-ups read ClickHouse instead"],
] as const;

/** All known limits, the first to be reached first. */
export function limitsOf(inputs: Inputs): Limit[] {
  return [...memoryLimits(inputs), ...laneLimits(inputs), ...storeLimits(inputs)].toSorted(
    (a, b) => a.clicksPerSecond - b.clicksPerSecond,
  );
}

function memoryLimits(inputs: Inputs): Limit[] {
  return [
    {
      name: `exact uniques: UNIQUE_VISITS_MAX ${millions(CODE.uniqueVisitsDefault)} a lane`,
      clicksPerSecond: (CODE.uniqueVisitsDefault * CODE.lanes) / uniqueVisits(1, inputs),
      isRaisable: true,
      remedy: `set UNIQUE_VISITS_MAX, up to ${millions(CODE.uniqueVisitsMax)}, by the memory of the writers`,
    },
    {
      name: `exact uniques: the largest UNIQUE_VISITS_MAX, ${millions(CODE.uniqueVisitsMax)}`,
      clicksPerSecond: (CODE.uniqueVisitsMax * CODE.lanes) / uniqueVisits(1, inputs),
      isRaisable: false,
      remedy: "the largest offers forget their oldest visits; a metric counts them",
    },
    {
      name: `${CODE.streamHours} hours in the stream: CLICKS_STREAM_BYTES 64 GiB`,
      clicksPerSecond: CODE.streamBytesDefault / (streamTb(1, inputs) * 1e12),
      isRaisable: true,
      remedy: "set CLICKS_STREAM_BYTES by the disk of NATS; journals keep what is not stored",
    },
  ];
}

function laneLimits(inputs: Inputs): Limit[] {
  const { lanes } = CODE;
  const plannedRows = inputs.writerRowsPerSecond * inputs.utilisation;
  return [
    {
      name: `the lane of the hottest offer at ${percent(inputs.utilisation)}`,
      clicksPerSecond: plannedRows / hottestLaneShare(inputs, lanes),
      isRaisable: false,
      remedy: "schemas/events/shards.ts: an offer is one lane; its clicks wait in the stream",
    },
    {
      name: `${lanes} lanes of click writers at ${percent(inputs.utilisation)}`,
      clicksPerSecond: plannedRows * lanes,
      isRaisable: false,
      remedy: "schemas/events/shards.ts: clicks wait in the stream",
    },
    ...YOUNG_CLICKS_BYTES.map(([bytes, isRaisable, remedy]) => ({
      name: `young clicks: YOUNG_CLICKS_BYTES ${bytes / 2 ** 20} MiB a lane are ${STORED_WITHIN_SECONDS} s`,
      clicksPerSecond: (bytes * lanes) / inputs.recordBytes / STORED_WITHIN_SECONDS,
      isRaisable,
      remedy,
    })),
  ];
}

function storeLimits(inputs: Inputs): Limit[] {
  const { lanes, streams } = CODE;
  const { utilisation, clickhouseCores: coresMax, clickhouseDiskTb } = inputs;
  return [
    {
      name: `the one stream is busy by ${percent(utilisation)}`,
      clicksPerSecond: firstRate(
        (peak) => streamUtilisation(peak, { lanes, streams }, inputs) > utilisation,
      ),
      isRaisable: true,
      remedy: "faster disks for NATS; the code has one stream (schemas/nats/streams.ts)",
    },
    {
      name: `conversions on ${MEASURED_CONVERSION_CORES} cores at ${percent(utilisation)}`,
      clicksPerSecond: MEASURED_CONVERSION_CORES / conversionCores(1, inputs),
      isRaisable: true,
      remedy: "more cores for Postgres, more processors; not measured, and there is one primary",
    },
    {
      name: `cores of one ClickHouse server, ${coresMax}`,
      clicksPerSecond: coresMax / clickhouseCores(1, inputs),
      isRaisable: false,
      remedy: "no table is spread over several servers",
    },
    {
      name: `disk of one ClickHouse server, ${clickhouseDiskTb} TB for ${inputs.keptDays} days`,
      clicksPerSecond: clickhouseDiskTb / clickhouseTb(1, inputs),
      isRaisable: true,
      remedy: "more disks in the server, or old months on an object store",
    },
  ];
}

/** The lowest rate at which this holds, to a clicks/s; it must hold for all higher rates. Infinite if it never does. */
function firstRate(isReached: (peak: number) => boolean): number {
  if (!isReached(RATE_MAX)) return Number.POSITIVE_INFINITY;
  let [below, reached] = [0, RATE_MAX];
  while (reached - below > 1) {
    const middle = Math.floor((below + reached) / 2);
    if (isReached(middle)) reached = middle;
    else below = middle;
  }
  return reached;
}

function millions(visits: number): string {
  return `${visits / 1_000_000} million`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

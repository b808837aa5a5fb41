import { CODE } from "./code-limits.ts";
import type { Inputs } from "./inputs.ts";

/*
 * The formulas of capacity. R is the peak of clicks a second. Each function is one formula, its unit is in its name, and its inputs
 * are figures of benches or assumptions (inputs.ts) or what the code decides (code-limits.ts).
 */

const SECONDS_PER_DAY = 86_400;
const SECONDS_PER_HOUR = 3_600;
const US = 1_000_000;
/** On two cores: Postgres and one processor (bench conversions). */
const CORES_OF_CONVERSIONS = 2;

/** A: average over a day. Assumed from the peak. */
export function averageClicksPerSecond(peak: number, { averageShare }: Inputs): number {
  return peak * averageShare;
}

/** Redirects of one worker with a large catalog at the planned utilisation. Benches redirects and catalog. */
function plannedRedirectsPerWorker(inputs: Inputs): number {
  return inputs.oneLinkRedirectsPerSecond * inputs.largeCatalogRatio * inputs.utilisation;
}

/** Workers that the load needs; one a core. */
export function neededWorkers(peak: number, inputs: Inputs): number {
  return Math.ceil(peak / plannedRedirectsPerWorker(inputs));
}

/** Hosts of ingress: one while two workers are enough, then at least three, so that one may be lost. */
export function ingressHosts(peak: number, inputs: Inputs): number {
  const needed = neededWorkers(peak, inputs);
  if (needed <= 2) return 1;
  return Math.max(3, Math.ceil(needed / inputs.workersPerHost) + 1);
}

/** Workers of all hosts, so that the others can take the load of a lost host. */
export function ingressWorkers(peak: number, inputs: Inputs): number {
  const hosts = ingressHosts(peak, inputs);
  const needed = neededWorkers(peak, inputs);
  return hosts === 1 ? needed : hosts * Math.ceil(needed / (hosts - 1));
}

/** Memory of all workers. Bench catalog. */
export function ingressMemoryGb(peak: number, inputs: Inputs): number {
  return (ingressWorkers(peak, inputs) * inputs.ingressResidentMb) / 1_000;
}

/** Cores for TLS at the edge. Assumed: no bench opens new TLS connections. */
export function tlsCores(peak: number, inputs: Inputs): number {
  const { newConnectionShare, tlsUsPerConnection, utilisation } = inputs;
  return (peak * newConnectionShare * tlsUsPerConnection) / US / utilisation;
}

/** Network of the edge. Assumed bytes a click. */
export function edgeGbitPerSecond(peak: number, { publicBytesPerClick }: Inputs): number {
  return (peak * publicBytesPerClick * 8) / 1e9;
}

/** What one host's journal writes when another host is lost. Bench redirects. */
export function journalMbPerSecond(peak: number, inputs: Inputs): number {
  const hosts = ingressHosts(peak, inputs);
  return (peak * inputs.recordBytes) / Math.max(1, hosts - 1) / 1e6;
}

/** Room of one host's journal for an outage of everything behind it, with one host less. */
export function journalGb(peak: number, inputs: Inputs): number {
  return (journalMbPerSecond(peak, inputs) * inputs.outageSeconds) / 1_000;
}

/** Copies of the stream: one server while everything is on one host, else three. */
export function streamCopies(peak: number, inputs: Inputs): number {
  return ingressHosts(peak, inputs) === 1 ? 1 : 3;
}

/** Cores of each NATS server. Bench pipeline, at 10,000/s: wake-ups are most of it, so this is too high for larger rates. */
export function natsCores(peak: number, { natsUsPerClick, utilisation }: Inputs): number {
  return (peak * natsUsPerClick) / US / utilisation;
}

/** Bytes that CLICKS_STREAM_BYTES must allow for its hours. JetStream counts them before compression. */
export function streamTb(peak: number, inputs: Inputs): number {
  const seconds = CODE.streamHours * SECONDS_PER_HOUR;
  return (averageClicksPerSecond(peak, inputs) * inputs.recordBytes * seconds) / 1e12;
}

/** Disk of one copy of the stream. Assumed compression: the records of bench stream are more alike than records of real visitors. */
export function streamDiskTb(peak: number, inputs: Inputs): number {
  return streamTb(peak, inputs) * inputs.streamDiskShare;
}

/** Cores of click writers. Bench pipeline, at 10,000/s. */
export function writerCores(peak: number, { processorsUsPerClick, utilisation }: Inputs): number {
  return (peak * processorsUsPerClick) / US / utilisation;
}

/** Lanes that the writers need at the planned utilisation, when clicks are spread evenly. Bench writer. */
export function neededLanes(peak: number, { writerRowsPerSecond, utilisation }: Inputs): number {
  return Math.ceil(peak / (writerRowsPerSecond * utilisation));
}

/** The share of all clicks in the lane of the hottest offer. The other offers are spread evenly. */
export function hottestLaneShare({ hottestOfferShare }: Inputs, lanes: number): number {
  return hottestOfferShare + (1 - hottestOfferShare) / lanes;
}

/** Share of the clicks in each lane; the first one has the hottest offer. */
export function laneShares(inputs: Inputs, lanes: number): number[] {
  const hottest = hottestLaneShare(inputs, lanes);
  return Array.from({ length: lanes }, (_, lane) =>
    lane === 0 ? hottest : (1 - hottest) / (lanes - 1),
  );
}

/** Cores of the ClickHouse server for storing; reports come on top. Bench pipeline, merges included. */
export function clickhouseCores(
  peak: number,
  { clickhouseUsPerClick, utilisation }: Inputs,
): number {
  return (peak * clickhouseUsPerClick) / US / utilisation;
}

/** Growth of one copy of ClickHouse. Bench reports. */
export function clickhouseGbPerDay(peak: number, inputs: Inputs): number {
  const clicks = averageClicksPerSecond(peak, inputs) * SECONDS_PER_DAY;
  return (clicks * inputs.storedBytesPerClick) / 1e9;
}

/** Disk of one copy of ClickHouse for the days that are kept. */
export function clickhouseTb(peak: number, inputs: Inputs): number {
  return (clickhouseGbPerDay(peak, inputs) * inputs.keptDays) / 1_000;
}

/** Visits that the writers remember for the window of uniqueness. */
export function uniqueVisits(peak: number, inputs: Inputs): number {
  const seconds = CODE.uniqueHours * SECONDS_PER_HOUR;
  return averageClicksPerSecond(peak, inputs) * seconds * inputs.uniqueShare;
}

/** Memory of the visits that the writers remember. Bench uniques. */
export function uniquesMemoryGb(peak: number, inputs: Inputs): number {
  return (uniqueVisits(peak, inputs) * CODE.uniqueBytes) / 1e9;
}

/** Conversions a second at the peak. Assumed share. */
export function conversionsPerSecond(peak: number, { conversionShare }: Inputs): number {
  return peak * conversionShare;
}

/** Cores of Postgres and the conversion processors. Bench conversions. */
export function conversionCores(peak: number, inputs: Inputs): number {
  const sets = conversionsPerSecond(peak, inputs) / inputs.conversionsPerSecond;
  return (sets * CORES_OF_CONVERSIONS) / inputs.utilisation;
}

/** Delivery processes. Bench deliveries. */
export function deliveryProcesses(peak: number, inputs: Inputs): number {
  const perSecond = conversionsPerSecond(peak, inputs) * inputs.deliveriesPerConversion;
  return Math.ceil(perSecond / (inputs.deliveriesPerSecond * inputs.utilisation));
}

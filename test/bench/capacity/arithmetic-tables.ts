import {
  averageClicksPerSecond,
  clickhouseCores,
  clickhouseGbPerDay,
  clickhouseTb,
  conversionCores,
  conversionsPerSecond,
  deliveryProcesses,
  edgeGbitPerSecond,
  ingressHosts,
  ingressMemoryGb,
  ingressWorkers,
  journalGb,
  journalMbPerSecond,
  natsCores,
  neededLanes,
  streamCopies,
  streamDiskTb,
  streamTb,
  tlsCores,
  uniquesMemoryGb,
  uniqueVisits,
  writerCores,
} from "./arithmetic.ts";
import { CODE } from "./code-limits.ts";
import type { Inputs } from "./inputs.ts";
import { type Limit, limitsOf } from "./limits.ts";
import { allShipping, streamUtilisation } from "./messages.ts";
import { type Amounts, monthlyPrice, type PriceList } from "./price.ts";
import { amountText, type Table } from "./text-table.ts";

/** The peaks of the tables. */
const PEAKS = [1_000, 10_000, 100_000, 1_000_000] as const;

type Quantity = readonly [name: string, unit: string, of: (peak: number, inputs: Inputs) => number];

const QUANTITIES: readonly Quantity[] = [
  ["average over a day", "clicks/s", averageClicksPerSecond],
  ["ingress hosts", "", ingressHosts],
  ["ingress workers, one a core", "", ingressWorkers],
  ["ingress memory", "GB", ingressMemoryGb],
  ["edge, TLS", "cores", tlsCores],
  ["edge, network", "Gbit/s", edgeGbitPerSecond],
  ["journal of a host", "MB/s", journalMbPerSecond],
  ["journal of a host, 30 min", "GB", journalGb],
  ["messages of all lanes", "/s", (peak, inputs) => messages(peak, inputs).messagesPerSecond],
  ["records of a message", "", (peak, inputs) => messages(peak, inputs).recordsPerMessage],
  ["busy share of the one stream", "", streamBusy],
  ["NATS servers", "", streamCopies],
  ["NATS, each server", "cores", natsCores],
  [`stream, ${CODE.streamHours} h, as counted`, "TB", streamTb],
  ["stream on each server's disk", "TB", streamDiskTb],
  [`lanes needed (the code has ${CODE.lanes})`, "", neededLanes],
  ["click writers", "cores", writerCores],
  ["visits remembered", "million", (peak, inputs) => uniqueVisits(peak, inputs) / 1e6],
  ["memory for them, at most", "GB", uniquesMemoryGb],
  ["ClickHouse, without reports", "cores", clickhouseCores],
  ["ClickHouse disk a day", "GB", clickhouseGbPerDay],
  ["ClickHouse disk, 30 days", "TB", clickhouseTb],
  ["conversions", "/s", conversionsPerSecond],
  ["Postgres and its processors", "cores", conversionCores],
  ["delivery processes", "", deliveryProcesses],
];

/** Quantities of an installation for each peak. */
export function quantityTable(inputs: Inputs): Table {
  return {
    head: ["peak, clicks/s", "", ...PEAKS.map(peakText)],
    rows: QUANTITIES.map(([name, unit, of]) => [
      name,
      unit,
      ...PEAKS.map((peak) => amountText(of(peak, inputs))),
    ]),
  };
}

/** All limits, with the peak at which each is reached. */
export function limitTable(inputs: Inputs): Table {
  return {
    head: ["reached at", "limit"],
    rows: limitsOf(inputs).flatMap(({ clicksPerSecond, name, isRaisable, remedy }) => [
      [`${rateText(clicksPerSecond)}/s`, name],
      ["", `  ${isRaisable ? "" : "fixed, "}${remedy}`],
    ]),
  };
}

/** For each peak the limits that it exceeds, in the order in which they break, and how many times it is above each. */
export function firstLimits(inputs: Inputs): string[] {
  const limits = limitsOf(inputs);
  return PEAKS.map((peak) => {
    const exceeded = limits.filter(({ clicksPerSecond }) => clicksPerSecond <= peak);
    const next = limits.find(({ clicksPerSecond }) => clicksPerSecond > peak);
    const parts = [
      `to be raised: ${listOf(exceeded, peak, true)}`,
      `fixed: ${listOf(exceeded, peak, false)}`,
      next === undefined ? "no limit is left" : `next: ${next.name}`,
    ];
    return `${peakText(peak)}/s: ${parts.join(". ")}.`;
  });
}

/** Cores, memory, disks and network of an installation, and its price. */
export function priceTable(inputs: Inputs, prices: PriceList): Table {
  const all = PEAKS.map((peak) => amountsAt(peak, inputs));
  const row = (name: string, of: (amounts: Amounts) => number): string[] => [
    name,
    ...all.map((amounts) => amountText(Math.ceil(of(amounts)))),
  ];
  return {
    head: ["a month", ...PEAKS.map(peakText)],
    rows: [
      row("cores", ({ core }) => core),
      row("memory, GB", ({ memoryGb }) => memoryGb),
      row("disk, TB", ({ diskTb }) => diskTb),
      row("public network, Gbit/s", ({ networkGbit }) => networkGbit),
      [
        `price, ${prices.currency} (${prices.source})`,
        ...all.map((amounts) => wholeUnits(monthlyPrice(amounts, prices))),
      ],
    ],
  };
}

/** What must be rented for a peak. Disks of ClickHouse hold 30 days; there is one copy of it. */
function amountsAt(peak: number, inputs: Inputs): Amounts {
  const copies = streamCopies(peak, inputs);
  const hosts = ingressHosts(peak, inputs);
  const storing = clickhouseCores(peak, inputs);
  return {
    core:
      ingressWorkers(peak, inputs) +
      tlsCores(peak, inputs) +
      copies * natsCores(peak, inputs) +
      writerCores(peak, inputs) +
      storing +
      conversionCores(peak, inputs) +
      deliveryProcesses(peak, inputs),
    memoryGb:
      ingressMemoryGb(peak, inputs) +
      uniquesMemoryGb(peak, inputs) +
      Math.ceil(storing) * inputs.memoryGbPerClickhouseCore,
    diskTb:
      (hosts * journalGb(peak, inputs)) / 1_000 +
      copies * streamDiskTb(peak, inputs) +
      clickhouseTb(peak, inputs),
    networkGbit: edgeGbitPerSecond(peak, inputs),
  };
}

function messages(peak: number, inputs: Inputs): ReturnType<typeof allShipping> {
  return allShipping(peak, CODE.lanes, inputs);
}

function streamBusy(peak: number, inputs: Inputs): number {
  return streamUtilisation(peak, { lanes: CODE.lanes, streams: CODE.streams }, inputs);
}

function listOf(exceeded: readonly Limit[], peak: number, isRaisable: boolean): string {
  const names = exceeded
    .filter((limit) => limit.isRaisable === isRaisable)
    .map(({ name, clicksPerSecond }) => `${name} (${amountText(peak / clicksPerSecond)} times)`);
  return names.length === 0 ? "nothing" : names.join("; ");
}

function peakText(peak: number): string {
  return peak.toLocaleString("en");
}

function rateText(rate: number): string {
  return rate === Number.POSITIVE_INFINITY
    ? "never"
    : Number(rate.toPrecision(3)).toLocaleString("en");
}

/** Without the fraction: the prices are estimates. */
function wholeUnits(amount: bigint): string {
  return (amount / 10_000n).toLocaleString("en");
}

import type { BenchRun, FigureName, Machine } from "../figures/bench-run.ts";
import { quietestRun } from "../figures/run-file.ts";
import {
  averageClicksPerSecond,
  clickhouseCores,
  clickhouseGbPerDay,
  conversionCores,
  conversionsPerSecond,
  deliveryProcesses,
  ingressHosts,
  ingressWorkers,
  neededWorkers,
  streamDiskTb,
  streamTb,
  tlsCores,
  uniquesMemoryGb,
  uniqueVisits,
  writerCores,
} from "./arithmetic.ts";
import { CODE } from "./code-limits.ts";
import { type Inputs, inputsOf, readOrigins } from "./inputs.ts";
import { limitsOf } from "./limits.ts";
import { allShipping, streamUtilisation } from "./messages.ts";
import { amountText } from "./text-table.ts";

/** The peaks of the page; what the larger one of capacity needs was never run. */
const PEAKS = [1_000, 10_000, 100_000] as const;
const BLOCK = /(<!-- figures: (\w+) [^\n]*-->\n)[\s\S]*?(<!-- end of figures -->)/g;

type Row = readonly [name: string, formula: string, of: (peak: number) => string, from: string];

/** deploy/pages/sizing.md with the tables that these runs give between their marks. @throws {Error} when a mark is missing. */
export function withSizingTables(page: string, runs: readonly BenchRun[], here: Machine): string {
  const inputs = inputsOf(readOrigins(runs, here));
  const blocks = {
    click: () => clickBlock(inputs, runs),
    parts: () => partsTable(inputs),
    limits: () => limitsTable(inputs, runs),
  };
  const left = new Set(Object.keys(blocks));
  const written = page.replace(BLOCK, (_, begin: string, name: string, end: string) => {
    if (!isBlock(name, blocks)) throw new Error(`deploy/pages/sizing.md: no figures ${name}`);
    left.delete(name);
    return `${begin}${blocks[name]()}\n${end}`;
  });
  if (left.size > 0)
    throw new Error(`deploy/pages/sizing.md has lost the marks around ${[...left].join(", ")}`);
  return written;
}

function isBlock<T extends object>(name: string, blocks: T): name is Extract<keyof T, string> {
  return name in blocks;
}

function figureOf(runs: readonly BenchRun[], name: FigureName): number {
  const value = quietestRun(runs, name)?.figures[name];
  if (value === undefined) throw new Error(`no run has measured ${name}`);
  return value;
}

function clickBlock(inputs: Inputs, runs: readonly BenchRun[]): string {
  const oneLink = inputs.oneLinkRedirectsPerSecond;
  const manyLinks = figureOf(runs, "manyLinksRedirectsPerSecond");
  const { ingressUsPerClick, processorsUsPerClick, natsUsPerClick, clickhouseUsPerClick } = inputs;
  const all = ingressUsPerClick + processorsUsPerClick + natsUsPerClick + clickhouseUsPerClick;
  const sustained = figureOf(runs, "sustainedClicksPerSecond");
  return [
    "| part | processor time | |",
    "|---|---|---|",
    `| ingress at full load | ${us(1e6 / oneLink)} with one link, ${us(1e6 / manyLinks)} with 5,000 links (${whole(oneLink)} and ${whole(manyLinks)} redirects/s on one core) | m |`,
    `| ingress at 10,000/s | ${us(ingressUsPerClick)}, because each request wakes its process | m |`,
    `| processors at 10,000/s | ${us(processorsUsPerClick)} | m |`,
    `| NATS, one server | ${us(natsUsPerClick)} | m |`,
    `| ClickHouse, one server, merges included | ${us(clickhouseUsPerClick)} | m |`,
    `| all of these, one copy of everything | ${us(all)} | m |`,
    `| TLS | ${us(inputs.tlsUsPerConnection)} for a new connection | a |`,
    "",
    `${whole(sustained)} clicks/s were stored within 5 s of their answer on these two cores, with the load generator beside them and without TLS (m).`,
  ].join("\n");
}

function partsTable(inputs: Inputs): string {
  const rows = [...ingressRows(inputs), ...storeRows(inputs), ...reportRows(inputs)];
  return [
    `| part | formula | ${PEAKS.map((peak) => `${whole(peak)}/s`).join(" | ")} | from |`,
    `|---|---|${PEAKS.map(() => "---|").join("")}---|`,
    ...rows.map(
      ([name, formula, of, from]) =>
        `| ${name} | ${formula} | ${PEAKS.map(of).join(" | ")} | ${from} |`,
    ),
  ].join("\n");
}

function ingressRows(inputs: Inputs): Row[] {
  const { oneLinkRedirectsPerSecond, largeCatalogRatio, utilisation, recordBytes } = inputs;
  const { outageSeconds } = inputs;
  return [
    [
      "ingress workers, one a core",
      `R ÷ (${whole(oneLinkRedirectsPerSecond)} × ${largeCatalogRatio} × ${utilisation}), large catalog`,
      (peak) => whole(neededWorkers(peak, inputs)),
      "m, a",
    ],
    [
      "…so that one of several hosts may die",
      "the others take its load",
      (peak) =>
        ingressHosts(peak, inputs) === 1
          ? ""
          : `${whole(ingressWorkers(peak, inputs))} on ${ingressHosts(peak, inputs)} hosts`,
      "a",
    ],
    [
      "memory of a worker",
      `0.2 GB small catalog, ${amountText(inputs.ingressResidentMb / 1_000)} GB with 20,000 offers and 50,000 partners`,
      () => "",
      "m",
    ],
    [
      `journals for an outage of ${outageSeconds / 60} minutes, together`,
      `R × ${recordBytes} B × ${whole(outageSeconds)} s`,
      (peak) => bytes((peak * recordBytes * outageSeconds) / 1e9),
      "m",
    ],
    [
      `cores for TLS, ${inputs.newConnectionShare * 100} % new connections`,
      `R × ${inputs.newConnectionShare} × ${us(inputs.tlsUsPerConnection)} ÷ ${utilisation}`,
      (peak) => amountText(tlsCores(peak, inputs)),
      "a",
    ],
  ];
}

function storeRows(inputs: Inputs): Row[] {
  const { recordBytes, streamDiskShare, utilisation } = inputs;
  const seconds = CODE.streamHours * 3_600;
  const layout = { lanes: CODE.lanes, streams: CODE.streams };
  const perMessage = amountText(inputs.streamMessageMs);
  const perMegabyte = amountText(inputs.streamMegabyteMs);
  return [
    [
      `\`CLICKS_STREAM_BYTES\` for ${CODE.streamHours} hours`,
      `A × ${recordBytes} B × ${whole(seconds)} s`,
      (peak) => bytes(streamTb(peak, inputs) * 1_000),
      "m, a",
    ],
    [
      "…on the disk of each NATS server",
      `× ${streamDiskShare}`,
      (peak) => bytes(streamDiskTb(peak, inputs) * 1_000),
      "a",
    ],
    [
      "messages of all lanes",
      `a message a worker and lane in ${CODE.busyMessageAgeMs} ms`,
      (peak) => `${whole(Math.round(allShipping(peak, CODE.lanes, inputs).messagesPerSecond))}/s`,
      "m, a",
    ],
    [
      "share of its time that the one stream is busy",
      `messages × (${perMessage} ms + ${perMegabyte} ms a MB)`,
      (peak) => amountText(streamUtilisation(peak, layout, inputs)),
      "m",
    ],
    [
      "cores of click writers",
      `R × ${us(inputs.processorsUsPerClick)} ÷ ${utilisation}`,
      (peak) => amountText(writerCores(peak, inputs)),
      "m, a",
    ],
    [
      "cores of ClickHouse, a copy",
      `R × ${us(inputs.clickhouseUsPerClick)} ÷ ${utilisation}`,
      (peak) => amountText(clickhouseCores(peak, inputs)),
      "m, a",
    ],
    [
      "disk of ClickHouse a day, a copy",
      `A × 86,400 × ${inputs.storedBytesPerClick} B`,
      (peak) => bytes(clickhouseGbPerDay(peak, inputs)),
      "m, a",
    ],
    [
      `visits remembered for uniqueness, ${CODE.uniqueHours} h`,
      `A × 86,400 × ${inputs.uniqueShare}, ${CODE.uniqueBytes} B each (13 B for windows above 45 days)`,
      (peak) => `${millions(uniqueVisits(peak, inputs))}, ${bytes(uniquesMemoryGb(peak, inputs))}`,
      "m, a",
    ],
  ];
}

function reportRows(inputs: Inputs): Row[] {
  const { conversionShare, deliveriesPerConversion } = inputs;
  return [
    [
      "conversions, and cores of Postgres and their processors",
      `${conversionShare * 100} % of R; ${whole(inputs.conversionsPerSecond)}/s on two cores`,
      (peak) =>
        `${whole(conversionsPerSecond(peak, inputs))}/s, ${amountText(conversionCores(peak, inputs))}`,
      "m, a",
    ],
    [
      "deliveries, and their processes",
      `${deliveriesPerConversion} a conversion; ${whole(inputs.deliveriesPerSecond)}/s a process`,
      (peak) =>
        `${whole(conversionsPerSecond(peak, inputs) * deliveriesPerConversion)}/s, ${deliveryProcesses(peak, inputs)}`,
      "m, a",
    ],
  ];
}

function limitsTable(inputs: Inputs, runs: readonly BenchRun[]): string {
  const limits = limitsOf(inputs);
  const at = (begin: string): number => {
    const limit = limits.find(({ name }) => name.startsWith(begin));
    if (limit === undefined) throw new Error(`no limit begins with "${begin}"`);
    return Number(limit.clicksPerSecond.toPrecision(3));
  };
  const rate = (begin: string): string => `${whole(at(begin))}/s`;
  const average = (begin: string): number => averageClicksPerSecond(at(begin), inputs);
  const { recordBytes, uniqueShare } = inputs;
  const unique = "exact uniques: UNIQUE_VISITS_MAX";
  const largest = "exact uniques: the largest UNIQUE_VISITS_MAX";
  const visits = CODE.uniqueVisitsDefault * CODE.lanes;
  const p50 = amountText(figureOf(runs, "syncedWriteP50Ms"));
  const p99 = amountText(figureOf(runs, "syncedWriteP99Ms"));
  const fillMinutes = CODE.streamBytesDefault / recordBytes / 100_000 / 60;
  const mib = CODE.youngBytesDefault / 2 ** 20;
  return [
    "| limit | where it lies | what to do |",
    "|---|---|---|",
    `| uniqueness is exact up to \`UNIQUE_VISITS_MAX\` visits of a lane's window, ${millions(CODE.uniqueVisitsDefault)} by default, ${millions(CODE.uniqueVisitsMax)} at most | ${CODE.lanes} lanes: ${millions(visits)} visits, about ${millions(visits / uniqueShare)} clicks a day, ${amountText(average(unique))}/s on average or ${rate(unique)} at the peak (a: ${uniqueShare} unique); ${rate(largest)} at the peak with ${millions(CODE.uniqueVisitsMax)} | raise it by ${CODE.uniqueBytes} bytes a visit and lane of the writers' memory, and that of one lane more: a lane that reads its visits again has them twice meanwhile. \`tracker_clicks_uniques_forgotten_total\` rises when it is too small |`,
    `| one lane takes all clicks of an offer | ${whole(Math.round(inputs.writerRowsPerSecond))} rows/s of one writer on two shared cores (m); with a share of ${inputs.hottestOfferShare} of all clicks on one offer (a) that lane is half busy at ${rate("the lane of the hottest offer")} | more [lanes](lanes.md) separate offers; a single offer above that rate waits in the stream |`,
    `| the stream holds \`CLICKS_STREAM_BYTES\`, ${CODE.streamBytesDefault / 2 ** 30} GiB by default, counted before compression | ${whole(at(`${CODE.streamHours} hours in the stream`))} clicks/s at the peak for its ${CODE.streamHours} hours; ${Math.round(fillMinutes)} minutes at 100,000/s (m) | raise it to R × ${recordBytes} B × the seconds that a ClickHouse may be away |`,
    `| journals hold what NATS or ClickHouse cannot take | ${inputs.outageSeconds / 60} minutes by the table above | the alert \`TrackerJournalFillsUp\` fires two hours ahead |`,
    `| fsyncs of the disk of NATS | \`sync_interval: always\` writes before each acknowledgement: ${p50} ms, p99 ${p99} ms on a shared disk (m); the one stream is half busy at ${rate("the one stream is busy")} | disks with power-loss protection; \`LANE_GROUPS\` makes [several streams](lanes.md) |`,
    `| young clicks: \`YOUNG_CLICKS_BYTES\`, ${mib} MiB a lane by default, ${CODE.youngBytesMax / 2 ** 30} GiB at most | 2 s of clicks at ${whole(Math.round(at(`young clicks: YOUNG_CLICKS_BYTES ${mib}`) / CODE.lanes / 1_000) * 1_000)}/s a lane, ${rate(`young clicks: YOUNG_CLICKS_BYTES ${mib}`)} in all; beyond it postbacks of such clicks read ClickHouse | raise it by the memory of the writers. A click with an ad ID takes 190 B more (m) |`,
  ].join("\n");
}

function us(value: number): string {
  return `${amountText(Number(value.toPrecision(3)))} µs`;
}

function whole(value: number): string {
  return value.toLocaleString("en");
}

/** Decimal, as disks are sold. */
function bytes(gb: number): string {
  return gb >= 1_000
    ? `${amountText(Number((gb / 1_000).toPrecision(2)))} TB`
    : `${amountText(Number(gb.toPrecision(gb >= 100 ? 3 : 2)))} GB`;
}

function millions(value: number): string {
  return value >= 1e9
    ? `${amountText(Number((value / 1e9).toPrecision(2)))} billion`
    : `${whole(Math.round(value / 1e6))} million`;
}

/**
 * A process that fills one memory of unique visits: `node unique-takes.js <table|map> <visits>`. `map` is a plain Map of numbers. Prints
 * one line of JSON, {@link UniqueTakes}.
 */
import { UniqueClicks } from "../../processors/clicks/visits/unique-clicks.ts";
import { DAY_MS } from "../../schemas/time/zone.ts";
import type { UniqueTakes } from "./unique-results.ts";

/** Takes between two looks at the processor time, which itself takes some µs. */
const STEP = 1_000;
const REPEATED_MAX = 1_000_000;
/** Room beyond the visits of a window. */
const FREE_SHARE = 0.25;
const START_MS = Date.UTC(2026, 0, 1);
const OFFERS = 300;
const PARTNERS = 500;

type Memory = { readonly bytes: number | undefined; take(index: number, atMs: number): boolean };

const [kind, count] = process.argv.slice(2);
const visits = Number(count);
const residentBefore = process.memoryUsage().rss;
const memory = kind === "map" ? mapMemory() : tableMemory();
let pauseMs = 0;

const filled = Math.floor(visits * 0.9);
takeAll(0, filled, timeOf);
const newNs = takeAll(filled, visits, timeOf);
const residentBytes = process.memoryUsage().rss - residentBefore;
const bytes = memory.bytes ?? residentBytes;
const repeatedNs = repeated();
const steady = Math.floor(visits * 1.1);
const steadyNs = takeAll(visits, steady, timeOf);
const most = pauseMs;
pauseMs = 0;
// No time passes, so nothing expires until there are too many.
if (kind !== "map") takeAll(steady, steady + visits * 2 * FREE_SHARE, () => timeOf(steady));
const result: UniqueTakes = {
  bytes,
  residentBytes,
  newNs,
  steadyNs,
  repeatedNs,
  pauseMs: most,
  forgetMs: pauseMs,
};
process.stdout.write(`${JSON.stringify(result)}\n`);

/** Takes visits that are all unique. Returns the processor time of one in ns. */
function takeAll(from: number, to: number, atMs: (index: number) => number): number {
  const startedAt = process.cpuUsage();
  let lastUs = 0;
  for (let index = from; index < to; index += 1) {
    if (!memory.take(index, atMs(index))) throw new Error(`visit ${index} is wrong`);
    if (index % STEP !== 0) continue;
    const us = usSince(startedAt);
    pauseMs = Math.max(pauseMs, (us - lastUs) / 1_000);
    lastUs = us;
  }
  return (usSince(startedAt) * 1_000) / (to - from);
}

function repeated(): number {
  const times = Math.min(visits, REPEATED_MAX);
  const startedAt = process.cpuUsage();
  for (let n = 0; n < times; n += 1) {
    const index = Math.floor(((n * 0.618_033_988_75) % 1) * visits);
    if (memory.take(index, timeOf(visits - 1))) throw new Error(`visit ${index} is forgotten`);
  }
  return (usSince(startedAt) * 1_000) / times;
}

function usSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** The window holds `visits` visits. */
function timeOf(index: number): number {
  return START_MS + Math.floor((index / visits) * DAY_MS);
}

/** At most 52 bits, another one for each index. */
function visitorOf(index: number): number {
  return (index * 2_654_435_761) % 2 ** 52;
}

function tableMemory(): Memory {
  const entriesMax = Math.floor(visits * (1 + FREE_SHARE));
  const uniques = new UniqueClicks({ entriesMax, retentionMs: DAY_MS });
  return {
    get bytes() {
      return uniques.bytes;
    },
    take: (index, atMs) =>
      uniques.take(
        {
          offerId: 4 * (index % OFFERS),
          affiliateId: index % PARTNERS,
          visitor: visitorOf(index),
        },
        atMs,
        DAY_MS,
      ),
  };
}

function mapMemory(): Memory {
  const times = new Map<number, number>();
  return {
    bytes: undefined,
    take: (index, atMs) => {
      const visitor = visitorOf(index);
      const lastMs = times.get(visitor);
      if (lastMs !== undefined && atMs - lastMs < DAY_MS) return false;
      times.set(visitor, atMs);
      return true;
    },
  };
}

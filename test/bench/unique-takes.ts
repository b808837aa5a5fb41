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
takeAll(0, filled, true);
const newNs = takeAll(filled, visits, true);
const resident = process.memoryUsage().rss - residentBefore;
const bytes = memory.bytes ?? resident;
const repeatedNs = repeated();
const steadyNs = takeAll(visits, visits + Math.floor(visits * 0.1), true);
const result: UniqueTakes = {
  bytes,
  residentBytes: resident,
  newNs,
  steadyNs,
  repeatedNs,
  pauseMs,
};
process.stdout.write(`${JSON.stringify(result)}\n`);

/** The window holds `visits` visits. Returns the processor time of one in ns. */
function takeAll(from: number, to: number, isUnique: boolean): number {
  const startedAt = process.cpuUsage();
  let lastUs = 0;
  for (let index = from; index < to; index += 1) {
    if (memory.take(index, timeOf(index)) !== isUnique) throw new Error(`visit ${index} is wrong`);
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

function timeOf(index: number): number {
  return START_MS + Math.floor((index / visits) * DAY_MS);
}

/** At most 52 bits, another one for each index. */
function visitorOf(index: number): number {
  return (index * 2_654_435_761) % 2 ** 52;
}

function tableMemory(): Memory {
  const uniques = new UniqueClicks({ entriesMax: visits * 2, retentionMs: DAY_MS });
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

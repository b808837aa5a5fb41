import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { runningUs } from "../system/postgres-time.ts";
import { pause } from "../system/service.ts";
import { startSystem } from "../system/start-system.ts";
import type { BenchResult } from "./result.ts";

const BUDGETS = { corePercent: 5, megabytes: 700, emptySeconds: 7, seconds: 3 } as const;
/** After a start: the demo is made, and what was compiled for it is thrown away. */
const SETTLE_MS = 40_000;
const MEASURED_MS = 60_000;

/** Processes by a part of their command line; the first that is found counts. */
const PARTS = [
  ["processors", "processors/main"],
  ["api", "api/main"],
  ["ingress", "ingress/main"],
  ["ClickHouse", "clickhouse-engine"],
  ["NATS", "nats-server"],
  ["Postgres", "postgres"],
] as const;
const REST = "launcher";
type Part = (typeof PARTS)[number][0] | typeof REST;

/** What `npm start` takes while nobody calls it, and how soon the first link works after it. Linux. */
export async function benchStanding(): Promise<BenchResult[]> {
  const env = { INGRESS_WORKERS: "2" };
  const [first, emptySeconds] = await timed(async () => await startSystem({ isEmpty: true, env }));
  const { dataDir } = first;
  try {
    await first.stop();
    const [system, seconds] = await timed(async () => await startSystem({ dataDir, env }));
    try {
      await pause(SETTLE_MS);
      return [
        ...(await idleResults(system.launcher.pid ?? 0)),
        startResult(
          "npm start on an empty folder, downloads apart",
          emptySeconds,
          BUDGETS.emptySeconds,
        ),
        startResult("npm start with data", seconds, BUDGETS.seconds),
      ];
    } finally {
      await system.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function idleResults(launcher: number): Promise<BenchResult[]> {
  const parts = [...partsBelow(launcher)];
  const pids = parts.flatMap(([, ofPart]) => ofPart);
  const before = new Map(pids.map((pid) => [pid, runningUs([pid])]));
  const startedAtMs = performance.now();
  await pause(MEASURED_MS);
  const tookMs = performance.now() - startedAtMs;
  // A connection of Postgres that has ended meanwhile counts as nothing.
  const usedUs = (pid: number): number => Math.max(0, runningUs([pid]) - (before.get(pid) ?? 0));
  const percents = parts.map(([part, ofPart]) => {
    const us = ofPart.reduce((sum, pid) => sum + usedUs(pid), 0);
    return [part, us / 10 / tookMs] as const;
  });
  const percent = percents.reduce((sum, [, ofPart]) => sum + ofPart, 0);
  const megabytes = pids.reduce((sum, pid) => sum + megabytesOf(pid), 0);
  console.error(`  ${percents.map(([part, one]) => `${part} ${one.toFixed(1)}`).join(", ")} %`);
  return [
    {
      name: "processor time without traffic",
      figure: `${percent.toFixed(1)} % of a core`,
      baseline: "-",
      ratio: null,
      budget: `<= ${BUDGETS.corePercent} %`,
      ok: percent <= BUDGETS.corePercent,
    },
    {
      name: "memory without traffic",
      figure: `${Math.round(megabytes)} MB`,
      baseline: "-",
      ratio: null,
      budget: `<= ${BUDGETS.megabytes} MB`,
      ok: megabytes <= BUDGETS.megabytes,
    },
  ];
}

function startResult(name: string, seconds: number, budget: number): BenchResult {
  return {
    name,
    figure: `${seconds.toFixed(1)} s`,
    baseline: "-",
    ratio: null,
    budget: `<= ${budget} s`,
    ok: seconds <= budget,
  };
}

async function timed<T>(run: () => Promise<T>): Promise<[T, number]> {
  const startedAtMs = performance.now();
  const result = await run();
  return [result, (performance.now() - startedAtMs) / 1_000];
}

/** The process and all that it has started, by part. */
function partsBelow(root: number): Map<Part, number[]> {
  const parents = new Map(
    readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0)
      .flatMap((pid) => {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]);
        return Number.isNaN(parent) ? [] : [[pid, parent] as const];
      }),
  );
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 0 && (pid === root || isBelow(parents.get(pid)));
  const parts = new Map<Part, number[]>();
  for (const pid of [...parents.keys()].filter(isBelow)) {
    const command = read(`/proc/${pid}/cmdline`);
    const part = PARTS.find(([, mark]) => command.includes(mark))?.[0] ?? REST;
    parts.set(part, [...(parts.get(part) ?? []), pid]);
  }
  return parts;
}

/** Memory of a process; pages that several share are divided among them. */
function megabytesOf(pid: number): number {
  const kib = Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
  return (kib * 1_024) / 1_000_000;
}

/** "" for a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

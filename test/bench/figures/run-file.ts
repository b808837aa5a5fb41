import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { projectFile } from "../../../schemas/host/project-root.ts";
import { BenchRun, type FigureName, type Machine } from "./bench-run.ts";

/** One line for each run that measured a figure. In Git, because the tables of capacity are made from it. */
const RUN_FILE = projectFile("test", "bench", "figures", "runs.jsonl");

/** The runs in the order of the file. @throws for a line that is not a run. */
export function readRuns(path: string = RUN_FILE): BenchRun[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => BenchRun.parse(JSON.parse(line)));
}

export function appendRun(run: BenchRun, path: string = RUN_FILE): void {
  appendFileSync(path, `${JSON.stringify(run)}\n`);
}

/** Below this part of a core other programs do not change a figure more than two runs differ anyway. */
const QUIET_CORES = 0.3;

/**
 * The run of the quietest machine that measured this figure: what else ran there makes figures smaller than they are. Among equally
 * quiet runs the newest counts, among runs with the same date the later line.
 */
export function quietestRun(runs: readonly BenchRun[], figure: FigureName): BenchRun | undefined {
  return runs
    .filter((run) => run.figures[figure] !== undefined)
    .toSorted((a, b) => noiseOf(b) - noiseOf(a) || (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
    .at(-1);
}

/** Cores that other programs kept busy; 0 for a quiet machine. A run without this number comes last. */
function noiseOf({ busy, load }: Pick<BenchRun, "busy" | "load">): number {
  const cores = busy ?? load ?? NOISE_UNKNOWN;
  return cores <= QUIET_CORES ? 0 : cores;
}

/** More than any load. */
const NOISE_UNKNOWN = 1e6;

/** Cores that are busy during the next `ms`, of all programs. */
export async function busyCores(ms: number): Promise<number> {
  const before = processorTimes();
  await sleep(ms);
  const after = processorTimes();
  const all = after.all - before.all;
  return all <= 0 ? 0 : ((after.busy - before.busy) / all) * cpus().length;
}

function processorTimes(): { readonly busy: number; readonly all: number } {
  let [busy, all] = [0, 0];
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.irq + times.idle;
    all += sum;
    busy += sum - times.idle;
  }
  return { busy, all };
}

export function thisMachine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown processor",
    cores: processors.length,
    node: process.version,
    kernel: release(),
  };
}

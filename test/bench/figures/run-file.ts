import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
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

/** The run with the newest date that measured this figure. Of two with the same date, the later line counts. */
export function newestRun(runs: readonly BenchRun[], figure: FigureName): BenchRun | undefined {
  return runs
    .filter((run) => run.figures[figure] !== undefined)
    .toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
    .at(-1);
}

export function thisMachine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown processor",
    cores: processors.length,
    node: process.version,
  };
}

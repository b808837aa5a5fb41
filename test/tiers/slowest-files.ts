import { appendFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Reporter, TestModule } from "vitest/node";
import { IS_FULL } from "../promises/report-cases.ts";
import { FAILS_FROM, overBudget, slownessOf } from "./budget.ts";

const SHOWN_MAX = 25;
const MS_MIN = 20_000;
const MS_PER_SECOND = 1_000;

type Cost = { readonly name: string; readonly ms: number; readonly processorSeconds: number };
type FileCost = Cost & { readonly project: string; readonly yardstickMs: number };

/**
 * Prints how long each project and its slowest files took, their processor time (`system/processor-time.ts`), and how busy the machine was,
 * to show where the time of a long run goes and whether more files could run at a time. A file or project far above its budget fails the
 * run, unless promises run at their full size.
 */
export class SlowestFiles implements Reporter {
  #before = machineTime();

  onTestRunStart(): void {
    this.#before = machineTime();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      project: module.project.name,
      name: module.relativeModuleId,
      ms: module.diagnostic().collectDuration + module.diagnostic().duration,
      processorSeconds: module.meta().processorSeconds ?? 0,
      yardstickMs: module.meta().yardstickMs ?? 0,
    }));
    writeCosts(files);
    const after = machineTime();
    const share = (after.busyMs - this.#before.busyMs) / (after.allMs - this.#before.allMs);
    if (!IS_FULL) judge(files);
    const slow = files.filter(({ ms }) => ms >= MS_MIN).toSorted((a, b) => b.ms - a.ms);
    if (slow.length === 0) return;
    const lines = [...sumsOf(files), ...slow.slice(0, SHOWN_MAX)].map(
      ({ name, ms, processorSeconds }) =>
        `${(ms / MS_PER_SECOND).toFixed(0).padStart(6)} s ${processorSeconds.toFixed(0).padStart(6)} s  ${name}`,
    );
    process.stdout.write(
      `\nTime and processor time of projects and slowest files; ${cpus().length} cores were busy ${Math.round(share * 100)} % of the time, ` +
        `and needed ${slownessOf(files).toFixed(2)} times the processor time of the machine of the budgets\n` +
        `${lines.join("\n")}\n`,
    );
  }
}

/** Names what takes more than its budget, and fails the run if that is far more. */
function judge(files: readonly FileCost[]): void {
  const faults = overBudget(files);
  if (faults.length === 0) return;
  const far = overBudget(files, FAILS_FROM);
  process.stdout.write(
    `\nAbove the budget of test/tiers/budget.ts:\n  ${faults.join("\n  ")}\n` +
      (far.length === 0
        ? ""
        : `The run failed, because this is too far above:\n  ${far.join("\n  ")}\n`),
  );
  if (far.length > 0) process.exitCode = 1;
}

/** Appends the costs of each file as a line to the file that TEST_COSTS_FILE names. */
function writeCosts(files: readonly FileCost[]): void {
  const path = process.env["TEST_COSTS_FILE"];
  if (path !== undefined)
    appendFileSync(path, files.map((file) => `${JSON.stringify(file)}\n`).join(""));
}

function sumsOf(files: readonly FileCost[]): Cost[] {
  const sums = new Map<string, Cost>();
  for (const { project, ms, processorSeconds } of files) {
    const sum = sums.get(project);
    sums.set(project, {
      name: project,
      ms: (sum?.ms ?? 0) + ms,
      processorSeconds: (sum?.processorSeconds ?? 0) + processorSeconds,
    });
  }
  return [...sums.values()];
}

/** The time of all cores and all programs since the machine has started. */
function machineTime(): { busyMs: number; allMs: number } {
  const times = cpus().map(({ times: of }) => of);
  const idleMs = times.reduce((sum, { idle }) => sum + idle, 0);
  const allMs = times.reduce(
    (sum, { user, nice, sys, irq, idle }) => sum + user + nice + sys + irq + idle,
    0,
  );
  return { busyMs: allMs - idleMs, allMs };
}

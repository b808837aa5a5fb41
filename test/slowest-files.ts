import type { Reporter, TestModule } from "vitest/node";

const SHOWN_MAX = 25;
const MS_MIN = 20_000;
const MS_PER_SECOND = 1_000;

/** Prints the seconds of each project and of its slowest files, to show where the time of a long run goes. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      project: module.project.name,
      name: module.relativeModuleId,
      ms: module.diagnostic().collectDuration + module.diagnostic().duration,
    }));
    const slow = files.filter(({ ms }) => ms >= MS_MIN).toSorted((a, b) => b.ms - a.ms);
    if (slow.length === 0) return;
    const lines = [...sumsOf(files), ...slow.slice(0, SHOWN_MAX)].map(
      ({ name, ms }) => `${(ms / MS_PER_SECOND).toFixed(0).padStart(6)} s  ${name}`,
    );
    process.stdout.write(`\nTime of projects and slowest files\n${lines.join("\n")}\n`);
  }
}

function sumsOf(
  files: readonly { readonly project: string; readonly ms: number }[],
): { readonly name: string; readonly ms: number }[] {
  const sums = new Map<string, number>();
  for (const { project, ms } of files) sums.set(project, (sums.get(project) ?? 0) + ms);
  return [...sums].map(([name, ms]) => ({ name, ms }));
}

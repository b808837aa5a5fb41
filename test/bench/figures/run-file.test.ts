import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BenchRun } from "./bench-run.ts";
import { appendRun, busyCores, quietestRun, readRuns, thisMachine } from "./run-file.ts";

function runOf(more: Partial<BenchRun>): BenchRun {
  return {
    bench: "writer",
    machine: { processor: "AMD EPYC", cores: 2, node: "v20.20.2" },
    date: "2026-11-23",
    commit: "f14d9337",
    figures: { writerRowsPerSecond: 59_649 },
    ...more,
  };
}

test("runs are read back from their file unchanged, and a line that is no run is an error", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-runs-"));
  try {
    const path = join(folder, "runs.jsonl");
    expect(readRuns(path)).toEqual([]);
    const runs = [runOf({}), runOf({ load: 3, figures: { recordBytes: 891 } })];
    for (const run of runs) appendRun(run, path);
    expect(readRuns(path)).toEqual(runs);
    appendFileSync(path, '{"bench":"writer"}\n');
    expect(() => readRuns(path)).toThrow(/machine/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the quietest machine counts; of equally quiet runs the newest, and not the last line", () => {
  const quietest = (runs: readonly BenchRun[]): string | undefined =>
    quietestRun(runs, "writerRowsPerSecond")?.commit;
  const [loud, quiet, unknown] = [
    runOf({ date: "2026-11-27", commit: "loud", load: 3 }),
    runOf({ date: "2026-11-21", commit: "quiet", load: 5, busy: 0.1 }),
    runOf({ date: "2026-11-28", commit: "unknown" }),
  ];
  expect(quietest([loud, quiet, unknown])).toBe("quiet");
  expect(quietest([quiet, unknown, loud])).toBe("quiet");
  expect(quietest([loud, unknown])).toBe("loud");
  expect(quietest([unknown])).toBe("unknown");
  const newer = runOf({ date: "2026-11-26T10:00:00.000Z", commit: "newer", busy: 0.2 });
  expect(quietest([newer, quiet])).toBe("newer");
  const other = runOf({ date: "2026-11-29", busy: 0, figures: { recordBytes: 891 } });
  expect(quietest([quiet, other])).toBe("quiet");
  expect(quietestRun([quiet], "conversionsPerSecond")).toBeUndefined();
});

test("a run carries its machine's processor, cores, kernel and what else kept it busy", async () => {
  const { processor, cores, kernel } = thisMachine();
  expect([processor.length > 0, cores > 0]).toEqual([true, true]);
  expect(kernel).toMatch(/^\d+[.]\d+/);
  const busy = await busyCores(50);
  expect(busy).toBeGreaterThanOrEqual(0);
  expect(busy).toBeLessThanOrEqual(cores);
});

test("the file in the repository can be read", () => {
  expect(readRuns().length).toBeGreaterThanOrEqual(7);
});

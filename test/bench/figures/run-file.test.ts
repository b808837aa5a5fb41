import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BenchRun } from "./bench-run.ts";
import { appendRun, newestRun, readRuns } from "./run-file.ts";

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

test("the newest run is the one with the newest date that measured the figure, not the last line", () => {
  const runs = [
    runOf({ date: "2026-11-25T10:00:00.000Z", commit: "newest" }),
    runOf({ date: "2026-11-21", commit: "oldest" }),
    runOf({ date: "2026-11-26", figures: { recordBytes: 891 } }),
  ];
  expect(newestRun(runs, "writerRowsPerSecond")?.commit).toBe("newest");
  expect(newestRun(runs, "conversionsPerSecond")).toBeUndefined();
});

test("the file in the repository can be read", () => {
  expect(readRuns().length).toBeGreaterThanOrEqual(7);
});

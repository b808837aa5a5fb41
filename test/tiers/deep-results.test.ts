import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type DeepResult, keepDeepResult, readDeepResults } from "./deep-results.ts";

function resultOf(file: string, more: Partial<DeepResult> = {}): DeepResult {
  const one = { commit: "abc", date: "2026-11-20T10:00:00Z", seed: "1", seconds: 1, names: ["n"] };
  return { ...one, file, result: "passed", processorSeconds: 1, ...more };
}

test("a file has one line, its newest result, and a file that is gone has none", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-deep-"));
  const path = join(folder, "results.jsonl");
  try {
    expect(readDeepResults(path)).toEqual([]);
    const [first, second] = ["test/tiers/shards.test.ts", "test/tiers/deep-results.test.ts"];
    keepDeepResult(resultOf(first), path);
    keepDeepResult(resultOf("test/deep/gone.test.ts"), path);
    keepDeepResult(resultOf(second), path);
    keepDeepResult(resultOf(first, { result: "failed", names: [] }), path);
    expect(readDeepResults(path)).toEqual([
      resultOf(second),
      resultOf(first, { result: "failed", names: [] }),
    ]);
    expect(readdirSync(folder)).toEqual(["results.jsonl"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

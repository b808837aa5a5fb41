import { expect, test } from "vitest";
import { passedGlobs } from "./passed-globs.ts";
import type { PromiseResult } from "./result-file.ts";

const commit = "abcdef0123";

function resultOf(more: Partial<PromiseResult>): PromiseResult {
  return {
    promise: 1,
    outcome: "passed",
    tests: 1,
    skipped: 0,
    cases: 1,
    violations: 0,
    seconds: 1,
    seed: "7",
    commit,
    date: "2026-11-22T10:00:00.000Z",
    ...more,
  };
}

test("a continued run leaves out only what passed with its seed at its commit (#26)", () => {
  const results = [
    resultOf({ promise: 2 }),
    resultOf({ promise: 2 }),
    resultOf({ promise: 3, seed: "8" }),
    resultOf({ promise: 4, commit: `${commit}-changed` }),
    resultOf({ promise: 5, outcome: "failed" }),
    resultOf({ promise: 6, outcome: "skipped" }),
    resultOf({ promise: 21 }),
  ];
  expect(passedGlobs({ seed: "7", commit, results })).toEqual([
    "test/{promises,deep/promises}/p02-*.test.ts",
    "test/{promises,deep/promises}/p21-*.test.ts",
  ]);
});

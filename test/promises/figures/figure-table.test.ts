import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROMISES } from "../promise-list.ts";
import { figureTable, withTable } from "./figure-table.ts";
import { appendResult, type PromiseResult, readResults } from "./result-file.ts";

function resultOf(more: Partial<PromiseResult>): PromiseResult {
  return {
    promise: 1,
    outcome: "passed",
    tests: 1,
    skipped: 0,
    cases: 500_000,
    violations: 0,
    seconds: 90,
    seed: "7",
    commit: "abcdef0123",
    date: "2026-11-22T10:00:00.000Z",
    ...more,
  };
}

/** A result of every promise with this seed. */
function wholeRun(seed: string, date: string): PromiseResult[] {
  return PROMISES.map(({ number }) => resultOf({ promise: number, seed, date }));
}

function rowOf(results: readonly PromiseResult[], name: string): string[] {
  const row = figureTable(results)
    .split("\n")
    .find((line) => line.startsWith(`| ${name} |`));
  return (row ?? "")
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

test("without results every promise is shown as not run, without figures (#26)", () => {
  expect(rowOf([], "P1")).toEqual(["P1", "not run", "", "", "", "", "not run", "", "", "", ""]);
  expect(rowOf([], "P42")[1]).toBe("not run");
  expect(rowOf([], "**all**")[1]).toBe("not run");
  expect(figureTable([])).not.toMatch(/passed/);
});

test("a line shows the newest passing result of each of the two newest seeds (#26)", () => {
  const results = [
    ...wholeRun("5", "2026-11-20T10:00:00.000Z"),
    ...wholeRun("6", "2026-11-21T10:00:00.000Z"),
    ...wholeRun("7", "2026-11-22T10:00:00.000Z"),
    resultOf({ cases: 600_000, commit: "0123456789", date: "2026-11-22T11:00:00.000Z" }),
  ];
  expect(figureTable(results)).toMatch(/^\| promise \| seed 7 .* \| seed 6 /);
  expect(rowOf(results, "P1")).toEqual([
    "P1",
    "passed",
    "600,000",
    "0",
    "1.5 min",
    "0123456789",
    "passed",
    "500,000",
    "0",
    "1.5 min",
    "abcdef0123",
  ]);
});

test("a promise run alone with a seed of its own takes no column from whole runs (#26)", () => {
  const results = [
    ...wholeRun("6", "2026-11-21T10:00:00.000Z"),
    ...wholeRun("7", "2026-11-22T10:00:00.000Z"),
    resultOf({ seed: "99", date: "2026-11-23T10:00:00.000Z" }),
  ];
  expect(figureTable(results)).not.toContain("seed 99");
});

test("a promise that failed or was partly skipped is shown as such until it has passed (#26)", () => {
  const failed = resultOf({ outcome: "failed", violations: 3 });
  expect(rowOf([failed], "P1").slice(1, 4)).toEqual(["failed", "500,000", "3"]);
  const skipped = resultOf({ outcome: "skipped", skipped: 2, tests: 5 });
  expect(rowOf([skipped], "P1")[1]).toBe("skipped (2 of 5 tests skipped)");
});

test("a failed run stays listed below the table when a later one passed (#26)", () => {
  const failed = resultOf({ outcome: "failed", violations: 3, date: "2026-11-22T09:00:00.000Z" });
  const results = [failed, resultOf({})];
  expect(rowOf(results, "P1")[1]).toBe("passed");
  expect(figureTable(results)).toContain(
    "- P1, seed 7, commit abcdef0123, 2026-11-22T09:00 UTC: 3 violations",
  );
});

test("the last line sums up its column (#26)", () => {
  const results = [resultOf({}), resultOf({ promise: 2, seconds: 30, commit: "0123456789" })];
  expect(rowOf(results, "**all**").slice(1, 6)).toEqual([
    `2 of ${PROMISES.length} passed, 0 not built`,
    "1,000,000",
    "0",
    "2.0 min",
    "abcdef0123, 0123456789",
  ]);
});

test("results are read back from their file unchanged (#26)", () => {
  const folder = mkdtempSync(join(tmpdir(), "tracker-results-"));
  try {
    const path = join(folder, "results.jsonl");
    expect(readResults(path)).toEqual([]);
    const results = [resultOf({}), resultOf({ promise: 2 })];
    for (const result of results) appendResult(result, path);
    expect(readResults(path)).toEqual(results);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("only the text between the two marks is replaced (#26)", () => {
  const text = "above\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nbelow\n";
  const written = withTable(text, []);
  expect(written).toMatch(/^above\n<!-- figures: begin -->\n\n\| promise /);
  expect(written).toMatch(/\n\n<!-- figures: end -->\nbelow\n$/);
  expect(withTable(written, [])).toBe(written);
  expect(() => withTable("no marks", [])).toThrow(/figures: begin/);
});

import { expect, test } from "vitest";
import type { DeepResult } from "./deep-results.ts";
import { closureOf } from "./import-graph.ts";
import { touchedFiles } from "./touched.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "test/deep/caps.test.ts": "",
  "test/deep/pages.test.ts": 'read("backup.md")',
  "test/system/start.ts": 'spawn(projectFile(".build", "processors", "main.js"))',
  "processors/main.ts": "",
  "processors/caps.ts": "",
  "schemas/money.ts": "",
};
const IMPORTS = {
  "test/deep/caps.test.ts": ["test/system/start.ts"],
  "test/deep/pages.test.ts": ["schemas/money.ts", "test/browser/chromium-program.ts"],
  "test/browser/chromium-program.ts": [],
  "test/system/start.ts": [],
  "processors/main.ts": ["processors/caps.ts", "schemas/money.ts"],
  "processors/caps.ts": [],
  "schemas/money.ts": ["node_modules/zod/index.js"],
};
const FILES = ["test/deep/caps.test.ts", "test/deep/pages.test.ts"];
const textOf = (path: string): string => TEXTS[path] ?? "";

function resultOf(file: string, more: Partial<DeepResult> = {}): DeepResult {
  const one = {
    date: "2026-11-20T10:00:00Z",
    seed: "1",
    seconds: 1,
    processorSeconds: 1,
    names: [],
  };
  return { ...one, file, result: "passed", commit: "abc", ...more };
}

function touchedBy(
  changed: readonly string[] | undefined,
  results = FILES.map((file) => resultOf(file)),
): string[] {
  return touchedFiles({
    files: FILES,
    imports: IMPORTS,
    results,
    changedSince: () => changed,
    textOf,
  });
}

test("what a test runs includes the programs that its modules start by path", () => {
  expect([...closureOf("test/deep/caps.test.ts", IMPORTS, textOf)].toSorted()).toEqual(
    Object.keys(IMPORTS)
      .filter((path) => !/pages|chromium/.test(path))
      .toSorted(),
  );
});

test("a module that computes the path of a program may start every program", () => {
  const text = (path: string): string =>
    path.startsWith("test/system") ? 'spawn(projectFile(".build", name))' : textOf(path);
  expect(closureOf("test/deep/caps.test.ts", IMPORTS, text).has("processors/caps.ts")).toBe(true);
});

test("a change touches the tests that run a changed module, and no other", () => {
  expect(touchedBy(["processors/caps.ts"])).toEqual(["test/deep/caps.test.ts"]);
  expect(touchedBy(["schemas/money.ts"])).toEqual(FILES);
  expect(touchedBy(["ingress/other.ts", "test/deep/results.jsonl"])).toEqual([]);
});

test("a changed file that no module imports touches every test, a page only those that name it", () => {
  expect(touchedBy(["package-lock.json"])).toEqual(FILES);
  expect(touchedBy(["schemas/postgres/functions/earned.sql"])).toEqual(FILES);
  expect(touchedBy(["deploy/pages/backup.md"])).toEqual(["test/deep/pages.test.ts"]);
});

test("a page of the console touches the tests that open a browser, a picture of it none", () => {
  for (const page of ["api/console/web/shell/shell.tsx", "api/console/web/look/table.css"])
    expect(touchedBy([page])).toEqual(["test/deep/pages.test.ts"]);
  expect(touchedBy(["api/console/pictures/report.png"])).toEqual([]);
});

test("a test without a sound result of a known commit is touched", () => {
  const [caps = "", pages = ""] = FILES;
  expect(touchedBy([], [resultOf(caps)])).toEqual([pages]);
  expect(touchedBy([], [resultOf(caps, { result: "failed" }), resultOf(pages)])).toEqual([caps]);
  expect(touchedBy([], [resultOf(caps, { commit: "abc-changed" }), resultOf(pages)])).toEqual([
    caps,
  ]);
  expect(touchedBy(undefined)).toEqual(FILES);
});

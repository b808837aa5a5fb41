import { expect, test } from "vitest";
import { projectFile } from "../../../schemas/host/project-root.ts";
import {
  PromiseReporter,
  type PromiseReporterOptions,
  type ReportedModule,
  type ReportedTest,
} from "./promise-reporter.ts";
import type { PromiseResult } from "./result-file.ts";

const FILES = ["p14-ad-costs.test.ts", "p14-ok.test.ts", "p21-event.test.ts", "README.md"].map(
  (name) => `test/promises/${name}`,
);

function moduleOf(file: string, more: { seconds?: number; fault?: string } = {}): ReportedModule {
  return {
    moduleId: projectFile("test", "promises", file),
    project: { name: "promises" },
    diagnostic: () => ({ duration: (more.seconds ?? 1) * 1_000 }),
    errors: () => (more.fault === undefined ? [] : [{ message: more.fault }]),
  };
}

function testOf(
  module: ReportedModule,
  state: "passed" | "failed" | "skipped" | "pending",
  cases?: number,
): ReportedTest {
  return {
    module,
    fullName: "every change has its event",
    meta: () => (cases === undefined ? {} : { cases: { cases, violations: 0 } }),
    result: () => ({ state, errors: state === "failed" ? [{ message: "42 is missing" }] : [] }),
  };
}

type Observed = { reporter: PromiseReporter; text: () => string; kept: PromiseResult[] };

function reporting(options: PromiseReporterOptions = {}): Observed {
  const kept: PromiseResult[] = [];
  let text = "";
  const reporter = new PromiseReporter({
    files: FILES,
    isFull: true,
    keep: (result) => kept.push(result),
    write: (more) => (text += more),
    ...options,
  });
  return { reporter, text: () => text, kept };
}

function end({ reporter }: Observed, module: ReportedModule, ...tests: ReportedTest[]): void {
  for (const one of tests) reporter.onTestCaseResult(one);
  reporter.onTestModuleEnd(module);
}

test("a full run stores a promise's result as soon as its file has ended (#24, #26)", () => {
  const seen = reporting();
  const module = moduleOf("p21-event.test.ts", { seconds: 61.23 });
  end(seen, module, testOf(module, "passed", 500), testOf(module, "passed"));
  expect(seen.kept).toMatchObject([
    { promise: 21, outcome: "passed", tests: 2, skipped: 0, cases: 501, seconds: 61.2 },
  ]);
  expect(seen.kept[0]).toMatchObject({ seed: process.env["SEED"], violations: 0 });
  expect(seen.kept[0]?.commit).toMatch(/^[0-9a-f]{10}(-changed)?$|^unknown$/);
  expect(seen.text()).toMatch(/^P21 {2}passed .*2 tests .*501 cases .*0 violations .*61\.2 s/);
});

test("a promise with two files is stored once, after both have ended (#26)", () => {
  const seen = reporting();
  const [first, second] = [moduleOf("p14-ad-costs.test.ts"), moduleOf("p14-ok.test.ts")];
  end(seen, first, testOf(first, "passed", 3));
  expect(seen.kept).toEqual([]);
  end(seen, second, testOf(second, "passed", 4));
  expect(seen.kept).toMatchObject([{ promise: 14, tests: 2, cases: 7, seconds: 2 }]);
});

test("a run in CI stores no result (#26)", () => {
  const seen = reporting({ isFull: false });
  const module = moduleOf("p21-event.test.ts");
  end(seen, module, testOf(module, "passed"));
  expect(seen.kept).toEqual([]);
});

test("a failing test is printed at once with its error, and the promise has failed (#24, #25)", () => {
  const seen = reporting();
  const module = moduleOf("p21-event.test.ts");
  seen.reporter.onTestCaseResult(testOf(module, "failed"));
  expect(seen.text()).toMatch(/^P21 {2}failed {2}SEED=\d+ {2}every change has its event\n/);
  expect(seen.text()).toContain("42 is missing");
  end(seen, module, testOf(module, "passed"));
  expect(seen.kept).toMatchObject([{ outcome: "failed", violations: 1 }]);
});

test("a promise with a skipped test has not passed, and its result counts the skipped tests (#24)", () => {
  const seen = reporting();
  const module = moduleOf("p21-event.test.ts");
  end(seen, module, testOf(module, "passed"), testOf(module, "skipped"));
  expect(seen.kept).toMatchObject([{ outcome: "skipped", tests: 2, skipped: 1, cases: 1 }]);
});

test("a file that fails outside its tests is a failed promise, even if every test passed (#24)", () => {
  const seen = reporting();
  const module = moduleOf("p21-event.test.ts", { fault: "the fleet could not be closed" });
  end(seen, module, testOf(module, "passed"));
  expect(seen.kept).toMatchObject([{ outcome: "failed", violations: 1 }]);
});

test("the final table names what was not run (#24)", () => {
  const seen = reporting();
  const module = moduleOf("p21-event.test.ts");
  end(seen, module, testOf(module, "passed"));
  seen.reporter.onTestRunEnd([module]);
  const table = seen.text().split("\nPromises, SEED=")[1] ?? "";
  expect(table).toMatch(/^P21 {2}passed/m);
  expect(table).toMatch(/^P22 {2}not run$/m);
  expect(table).toMatch(/^P42 {2}not run$/m);
});

test("a run without promises prints no table (#24)", () => {
  const seen = reporting();
  seen.reporter.onTestRunEnd([{ ...moduleOf("x.test.ts"), project: { name: "unit" } }]);
  expect(seen.text()).toBe("");
});

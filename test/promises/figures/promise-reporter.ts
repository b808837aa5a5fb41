import { readdirSync } from "node:fs";
import type { Reporter } from "vitest/node";
import { projectFile } from "../../../schemas/host/project-root.ts";
import {
  LAST_PROMISE,
  NOT_BUILT,
  nameOfPromise,
  PROMISE_FOLDERS,
  promiseOfFile,
} from "../promise-list.ts";
import { type Cases, IS_FULL } from "../report-cases.ts";
import { currentCommit } from "./current-commit.ts";
import { appendResult, type PromiseResult } from "./result-file.ts";

type Outcome = PromiseResult["outcome"];
type Line = Pick<
  PromiseResult,
  "outcome" | "tests" | "skipped" | "cases" | "violations" | "seconds"
>;

/** The part of a vitest `TestModule` that the reporter reads. */
export type ReportedModule = {
  readonly moduleId: string;
  readonly project: { readonly name: string };
  diagnostic(): { readonly duration: number };
  errors(): readonly { readonly message: string }[];
};

/** The part of a vitest `TestCase` that the reporter reads. */
export type ReportedTest = {
  readonly fullName: string;
  readonly module: ReportedModule;
  meta(): { readonly cases?: Cases };
  result(): {
    readonly state: Outcome | "pending";
    readonly errors?: readonly { readonly message: string; readonly diff?: string }[] | undefined;
  };
};

export type PromiseReporterOptions = {
  readonly write?: (text: string) => void;
  /** Stores the result of each promise at full size, once all of its files have ended. */
  readonly keep?: (result: PromiseResult) => void;
  readonly isFull?: boolean;
  /** Paths from the root of the files in the folders of promises. */
  readonly files?: readonly string[];
};

/**
 * Prints one line for each promise when its tests have ended (cases, violations, seed, time), the errors of a failing test at once,
 * and one table of all promises at the end. A full run also stores each line in the result file at once, so that an interrupted
 * run loses only the promises that were still running.
 */
export class PromiseReporter implements Reporter {
  readonly #lines = new Map<number, Line>();
  readonly #filesLeft = new Map<number, Set<string>>();
  readonly #write: (text: string) => void;
  readonly #keep: (result: PromiseResult) => void;
  readonly #isFull: boolean;

  constructor(options: PromiseReporterOptions = {}) {
    this.#write = options.write ?? ((text) => void process.stdout.write(text));
    this.#keep = options.keep ?? appendResult;
    this.#isFull = options.isFull ?? IS_FULL;
    for (const file of options.files ?? promiseFiles()) {
      const number = promiseOfFile(file);
      if (number === undefined) continue;
      const left = this.#filesLeft.get(number) ?? new Set();
      this.#filesLeft.set(number, left.add(projectFile(file)));
    }
  }

  onTestCaseResult(test: ReportedTest): void {
    const number = numberOf(test.module);
    if (number === undefined) return;
    const { state, errors = [] } = test.result();
    this.#add(number, lineOf(test));
    if (state !== "failed") return;
    this.#write(`${label(number)}  failed  SEED=${seed()}  ${test.fullName}\n`);
    for (const { message, diff = "" } of errors) {
      this.#write(`${indented(`${message}\n${diff}`.trimEnd())}\n`);
    }
  }

  onTestModuleEnd(module: ReportedModule): void {
    const number = numberOf(module);
    if (number === undefined) return;
    // A file that cannot be loaded, or whose set-up fails, has no test that could report it.
    const isBroken = module.errors().length > 0;
    this.#add(number, {
      outcome: isBroken ? "failed" : "passed",
      tests: 0,
      skipped: 0,
      cases: 0,
      violations: isBroken ? 1 : 0,
      seconds: module.diagnostic().duration / 1_000,
    });
    const line = this.#lines.get(number);
    if (line === undefined) return;
    this.#write(`${label(number)}  ${figures(line)}  SEED=${seed()}\n`);
    const left = this.#filesLeft.get(number);
    left?.delete(module.moduleId);
    // A promise with two files has no result before both have ended.
    if (!this.#isFull || left?.size !== 0) return;
    this.#keep({
      promise: number,
      ...line,
      seconds: Math.round(line.seconds * 10) / 10,
      seed: seed(),
      commit: currentCommit(),
      date: new Date().toISOString(),
    });
  }

  onTestRunEnd(modules: readonly ReportedModule[]): void {
    if (!modules.some((module) => numberOf(module) !== undefined)) return;
    this.#write(`\nPromises, SEED=${seed()}\n`);
    for (let number = 1; number <= LAST_PROMISE; number += 1) {
      const line = this.#lines.get(number);
      if (line !== undefined) this.#write(`${label(number)}  ${figures(line)}\n`);
      else if (this.#isFull) {
        this.#write(`${label(number)}  ${NOT_BUILT[number] ?? "not run"}\n`);
      }
    }
  }

  #add(number: number, line: Line): void {
    const before = this.#lines.get(number);
    this.#lines.set(
      number,
      before === undefined
        ? line
        : {
            outcome: worse(before.outcome, line.outcome),
            tests: before.tests + line.tests,
            skipped: before.skipped + line.skipped,
            seconds: before.seconds + line.seconds,
            cases: before.cases + line.cases,
            violations: before.violations + line.violations,
          },
    );
  }
}

function promiseFiles(): string[] {
  return PROMISE_FOLDERS.flatMap((folder) =>
    readdirSync(projectFile(folder)).map((name) => `${folder}/${name}`),
  );
}

/** The number of the promise, or undefined for a module that tests none. */
function numberOf({ moduleId, project }: ReportedModule): number | undefined {
  return project.name.includes("promises") ? promiseOfFile(moduleId) : undefined;
}

function lineOf(test: ReportedTest): Line {
  const { state } = test.result();
  return {
    outcome: state === "pending" ? "failed" : state,
    tests: 1,
    skipped: state === "skipped" ? 1 : 0,
    seconds: 0,
    // A test that counts nothing is one case.
    ...(test.meta().cases ?? {
      cases: state === "skipped" ? 0 : 1,
      violations: state === "passed" || state === "skipped" ? 0 : 1,
    }),
  };
}

/** Does not use `seed.ts`: vitest loads this file before its settings choose a seed. */
function seed(): string {
  return process.env["SEED"] ?? "";
}

/** The worse of two outcomes. A promise with a skipped test is not shown as passed. */
function worse(a: Outcome, b: Outcome): Outcome {
  if (a === "failed" || b === "failed") return "failed";
  return a === "skipped" || b === "skipped" ? "skipped" : "passed";
}

function label(number: number): string {
  return nameOfPromise(number).padEnd(3);
}

function figures({ outcome, tests, seconds, cases, violations }: Line): string {
  return [
    outcome.padEnd(7),
    `${tests} ${tests === 1 ? "test " : "tests"}`.padStart(8),
    `${cases.toLocaleString("en")} cases`.padStart(16),
    `${violations.toLocaleString("en")} violations`.padStart(14),
    `${seconds.toFixed(1)} s`.padStart(9),
  ].join("  ");
}

function indented(text: string): string {
  return text.replace(/^/gm, "     ");
}

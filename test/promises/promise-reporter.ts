import type { Reporter, TestCase, TestModule } from "vitest/node";
import { NOT_BUILT, PROMISES } from "./promise-list.ts";
import { type Cases, IS_FULL } from "./report-cases.ts";

const PROJECT = "promises";
const FILE = /\/p(\d+)-[^/]*$/;
type Outcome = "passed" | "failed" | "skipped";
type Line = Cases & { outcome: Outcome; tests: number; durationMs: number };

/**
 * Prints one line for each promise as soon as its tests have ended (cases, violations, seed, time), what a failing test found
 * at once, and one table of all promises at the end of the run.
 */
export class PromiseReporter implements Reporter {
  readonly #lines = new Map<number, Line>();
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void = (text) => void process.stdout.write(text)) {
    this.#write = write;
  }

  onTestCaseResult(test: TestCase): void {
    if (test.project.name !== PROJECT) return;
    this.#add(numberOf(test.module), lineOf(test));
    if (test.result().state !== "failed") return;
    this.#write(`${label(numberOf(test.module))}  failed  SEED=${seed()}  ${test.fullName}\n`);
    for (const { message, diff = "" } of test.result().errors ?? []) {
      this.#write(`${indented(`${message}\n${diff}`.trimEnd())}\n`);
    }
  }

  onTestModuleEnd(module: TestModule): void {
    if (module.project.name !== PROJECT) return;
    const number = numberOf(module);
    const line = this.#lines.get(number);
    if (line !== undefined) this.#write(`${label(number)}  ${figures(line)}  SEED=${seed()}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (!modules.some(({ project }) => project.name === PROJECT)) return;
    this.#write(`\nPromises, SEED=${seed()}\n`);
    for (let number = 1; number <= PROMISES; number += 1) {
      const line = this.#lines.get(number);
      if (line !== undefined) this.#write(`${label(number)}  ${figures(line)}\n`);
      else if (IS_FULL) this.#write(`${label(number)}  ${NOT_BUILT[number] ?? "not run"}\n`);
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
            tests: before.tests + 1,
            durationMs: before.durationMs + line.durationMs,
            cases: before.cases + line.cases,
            violations: before.violations + line.violations,
          },
    );
  }
}

function numberOf({ moduleId }: TestModule): number {
  return Number(FILE.exec(moduleId)?.[1]);
}

function lineOf(test: TestCase): Line {
  const { state } = test.result();
  return {
    outcome: state === "pending" ? "failed" : state,
    tests: 1,
    durationMs: test.diagnostic()?.duration ?? 0,
    // A test that counts nothing is one case.
    ...(test.meta().cases ?? {
      cases: state === "skipped" ? 0 : 1,
      violations: state === "passed" || state === "skipped" ? 0 : 1,
    }),
  };
}

/** Not from `seed.ts`: vitest loads this file before its settings choose a seed. */
function seed(): string {
  return process.env["SEED"] ?? "";
}

/** A promise of which one test was skipped is not shown as passed. */
function worse(a: Outcome, b: Outcome): Outcome {
  if (a === "failed" || b === "failed") return "failed";
  return a === "skipped" || b === "skipped" ? "skipped" : "passed";
}

function label(number: number): string {
  return `P${number}`.padEnd(3);
}

function figures({ outcome, tests, durationMs, cases, violations }: Line): string {
  return [
    outcome.padEnd(7),
    `${tests} ${tests === 1 ? "test " : "tests"}`.padStart(8),
    `${cases.toLocaleString("en")} cases`.padStart(16),
    `${violations.toLocaleString("en")} violations`.padStart(14),
    `${(durationMs / 1_000).toFixed(1)} s`.padStart(9),
  ].join("  ");
}

function indented(text: string): string {
  return text.replace(/^/gm, "     ");
}

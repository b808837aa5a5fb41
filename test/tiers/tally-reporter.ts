import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Appends one line per vitest run to the files that these variables name. Does nothing without them.
 *
 * TEST_TALLY_FILE: `{"passed":n,"failed":n,"skipped":n}`, which `.ci/run` adds up. `failed` also counts each file that could not be
 * collected and each error outside any test: vitest exits with a non-zero code for them, but none of their tests would be in the sum.
 *
 * TEST_NAMES_FILE: `{"passed":[…],"skipped":[…]}` with full names, for `requirements/main.ts`.
 */
export class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const names = { passed: [] as string[], failed: [] as string[], skipped: [] as string[] };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // An interrupted run leaves tests without a result, which did not pass.
        names[state === "pending" ? "failed" : state].push(test.fullName);
      }
    }
    const { passed, failed, skipped } = names;
    const uncollected = modules.filter((module) => module.errors().length > 0).length;
    append("TEST_TALLY_FILE", {
      passed: passed.length,
      failed: failed.length + uncollected + errors.length,
      skipped: skipped.length,
    });
    append("TEST_NAMES_FILE", { passed, skipped });
  }
}

function append(variable: string, line: object): void {
  const file = process.env[variable];
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

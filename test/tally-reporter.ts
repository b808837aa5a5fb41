import { appendFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/**
 * Appends one line `{"passed":n,"failed":n,"skipped":n}` per vitest run to the file that TEST_TALLY_FILE names. Does nothing
 * without that variable. `.ci/run` adds the lines up.
 *
 * `failed` also counts each file that could not be collected and each error outside any test: vitest exits with a non-zero
 * code for them, but none of their tests would be in the sum.
 */
export class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = process.env["TEST_TALLY_FILE"];
    if (file === undefined) return;
    const tally = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) tally.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // An interrupted run leaves tests without a result, which did not pass.
        tally[state === "pending" ? "failed" : state] += 1;
      }
    }
    appendFileSync(file, `${JSON.stringify(tally)}\n`);
  }
}

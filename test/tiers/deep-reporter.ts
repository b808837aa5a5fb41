import type { Reporter, TestModule } from "vitest/node";
import { currentCommit } from "../promises/figures/current-commit.ts";
import { type DeepResult, keepDeepResult } from "./deep-results.ts";
import { LEFT_OUT } from "./left-out.ts";

/**
 * With TEST_DEEP_RESULTS=1 (`npm run test:deep`) each deep file that has ended gets its line in `test/deep/results.jsonl` at once, so an
 * interrupted run keeps the results it has. Always prints the names of files that a run had no time for.
 */
export class DeepReporter implements Reporter {
  readonly #leftOut: string[] = [];

  onTestModuleEnd(module: TestModule): void {
    const tests = [...module.children.allTests()];
    if (tests.some(({ name }) => name === LEFT_OUT)) {
      this.#leftOut.push(module.relativeModuleId);
      return;
    }
    if (process.env["TEST_DEEP_RESULTS"] !== "1" || !module.project.name.startsWith("deep-"))
      return;
    const { collectDuration, duration } = module.diagnostic();
    keepDeepResult({
      file: module.relativeModuleId,
      result: resultOf(module),
      commit: currentCommit(),
      date: new Date().toISOString(),
      seed: process.env["SEED"] ?? "",
      seconds: Math.round((collectDuration + duration) / 1_000),
      processorSeconds: Math.round(module.meta().processorSeconds ?? 0),
      names: tests
        .filter((test) => test.result().state === "passed")
        .map(({ fullName }) => fullName),
    });
  }

  onTestRunEnd(): void {
    if (this.#leftOut.length > 0)
      process.stdout.write(
        `\nNo time was left for ${this.#leftOut.length} files:\n${this.#leftOut.map((file) => `  ${file}\n`).join("")}`,
      );
  }
}

/** A file whose tests were interrupted has not passed. */
function resultOf(module: TestModule): DeepResult["result"] {
  const isWhole = [...module.children.allTests()].every(
    (test) => test.result().state !== "pending",
  );
  return module.ok() && isWhole ? "passed" : "failed";
}

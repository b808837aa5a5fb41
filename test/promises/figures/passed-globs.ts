import { globOfPromise } from "../promise-list.ts";
import { currentCommit } from "./current-commit.ts";
import { type PromiseResult, readResults } from "./result-file.ts";

/** What a continued run needs to know about the earlier one. */
export type EarlierRun = {
  readonly seed: string;
  readonly commit?: string;
  readonly results?: readonly PromiseResult[];
};

/** Globs of the test files of promises that passed at full size with this seed, at the commit of this tree. */
export function passedGlobs({
  seed,
  commit = currentCommit(),
  results = readResults(),
}: EarlierRun): string[] {
  const passed = results.filter(
    (result) => result.outcome === "passed" && result.seed === seed && result.commit === commit,
  );
  return [...new Set(passed.map(({ promise }) => globOfPromise(promise)))];
}

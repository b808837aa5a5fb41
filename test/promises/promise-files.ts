import { currentCommit } from "./figures/current-commit.ts";
import { readResults } from "./figures/result-file.ts";
import { PROMISES } from "./promise-list.ts";

/** Globs of the test files of promises that have the machine to themselves. */
export function aloneGlobs(isFull: boolean): string[] {
  return PROMISES.filter(
    ({ kind }) => kind === "times" || (isFull && kind === "times at full size"),
  ).map(({ number }) => globOf(number));
}

/** Globs of the test files of promises that passed at full size with this seed at the commit of this tree. */
export function passedGlobs(seed: string): string[] {
  const commit = currentCommit();
  const passed = readResults().filter(
    (result) => result.outcome === "passed" && result.seed === seed && result.commit === commit,
  );
  return [...new Set(passed.map(({ promise }) => globOf(promise)))];
}

function globOf(number: number): string {
  return `test/promises/p${String(number).padStart(2, "0")}-*.test.ts`;
}

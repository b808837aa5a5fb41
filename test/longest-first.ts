import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PROMISES, promiseOfFile } from "./promises/promise-list.ts";

/**
 * Within a project the tests of the longest promises start first, so that no worker is left alone with a long one at the end.
 * Vitest orders all other tests.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) =>
      a.project.name === b.project.name ? minutesOf(b) - minutesOf(a) : 0,
    );
  }
}

function minutesOf({ moduleId }: TestSpecification): number {
  const promise = promiseOfFile(moduleId);
  return PROMISES.find(({ number }) => number === promise)?.minutes ?? 0;
}

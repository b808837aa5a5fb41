import { TestRunner } from "vitest";

const UNTIL_MS = Number(process.env["TEST_UNTIL_MS"] ?? Number.POSITIVE_INFINITY);

/**
 * Begins no file after TEST_UNTIL_MS (UTC ms): the file fails. So a run of CI on a slow machine ends with the results of all files before, and
 * names those that were not run.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes the runner from it
export default class TimeLeftRunner extends TestRunner {
  override importFile(...[path, source]: Parameters<TestRunner["importFile"]>): unknown {
    if (source === "setup" || Date.now() < UNTIL_MS) return super.importFile(path, source);
    throw new Error(`no time is left to run ${path}`);
  }
}

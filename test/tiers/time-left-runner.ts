import { TestRunner, test } from "vitest";
import { LEFT_OUT } from "./left-out.ts";

const UNTIL_MS = Number(process.env["TEST_UNTIL_MS"] ?? Number.POSITIVE_INFINITY);

/**
 * Begins no file after TEST_UNTIL_MS (UTC ms): the file counts as skipped, and `DeepReporter` prints its name. So a run of CI on a slow
 * machine ends in time with the results of the files before.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes the runner from it
export default class TimeLeftRunner extends TestRunner {
  override importFile(...[path, source]: Parameters<TestRunner["importFile"]>): unknown {
    if (source === "setup" || Date.now() < UNTIL_MS) return super.importFile(path, source);
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- it stands for a whole file and is skipped
    test(LEFT_OUT, ({ skip }) => skip("the time of this run is over"));
    return undefined;
  }
}

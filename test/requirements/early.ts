/**
 * A step of `npm run check`, which takes a second: says what the last step of `npm test` (main.ts) would say a quarter of an hour later. It
 * reads the sources of the tests, so that a test that fails or is skipped still counts.
 */
import { readFileSync } from "node:fs";
import { projectFile } from "../../schemas/host/project-root.ts";
import { PRODUCT_FOLDERS, pathsBelow } from "../architecture/source-files.ts";
import { readDeepResults } from "../tiers/deep-results.ts";
import { commitsAfter, headAtMs } from "../tiers/history.ts";
import { contractIds } from "./contract-ids.ts";
import { deepProofs, type History, soonAfter } from "./deep-proofs.ts";
import { judgeNames } from "./judge-names.ts";

const everyday = pathsBelow([...PRODUCT_FOLDERS, "test"]).filter(
  (path) =>
    !path.startsWith("test/deep/") &&
    // Both have names of tests in other files, too.
    (path.endsWith(".test.ts") || /^test\/(newcomer|storm)\/.*\.ts$/.test(path)),
);
const texts = everyday.map((path) => readFileSync(projectFile(path), "utf8"));
const results = readDeepResults();
const now: History = { headAtMs: headAtMs(), commitsAfter };

/** What {@link judgeNames} will say of this tree at a point of its history; undefined if all is well. */
function faultAt(history: History): string | undefined {
  const runs = [{ passed: texts, skipped: [] }];
  const { isMet, line } = judgeNames(contractIds(), runs, deepProofs(results, history));
  return isMet ? undefined : line;
}

const fault = faultAt(now);
const soon = fault === undefined ? faultAt(soonAfter(now)) : undefined;
if (fault !== undefined) process.stdout.write(`${fault}\n`);
if (soon !== undefined) process.stdout.write(`Within ten commits or a day: ${soon}\n`);
if (fault !== undefined || soon !== undefined)
  process.stdout.write(
    "`npm run test:deep` renews the deep results; commit test/deep/results.jsonl.\n",
  );
process.exitCode = fault === undefined ? 0 : 1;

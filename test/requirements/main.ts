/**
 * The last step of `npm test`: fails unless each requirement of the contract is in the name of a test that passed, in this run or in a
 * deep result that is not too old.
 */
import { readFileSync } from "node:fs";
import { readDeepResults } from "../tiers/deep-results.ts";
import { commitsAfter, headAtMs } from "../tiers/history.ts";
import { contractIds } from "./contract-ids.ts";
import { deepProofs } from "./deep-proofs.ts";
import { judgeNames, TestNames } from "./judge-names.ts";

// test/tiers/tally-reporter.ts wrote a line for each run.
const lines = readFileSync(process.env["TEST_NAMES_FILE"] ?? "", "utf8")
  .trimEnd()
  .split("\n");
const runs = lines.map((text) => TestNames.parse(JSON.parse(text)));
const deep = deepProofs(readDeepResults(), { headAtMs: headAtMs(), commitsAfter });
const { isMet, line } = judgeNames(contractIds(), runs, deep);
process.stdout.write(`${line}\n`);
if (!isMet)
  process.stdout.write(
    "`npm run test:deep` renews the deep results; commit test/deep/results.jsonl.\n",
  );
process.exitCode = isMet ? 0 : 1;

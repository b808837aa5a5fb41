/** The last step of `npm test`: fails unless each requirement of the contract is in the name of a test that passed. */
import { readFileSync } from "node:fs";
import { contractIds } from "./contract-ids.ts";
import { judgeNames, TestNames } from "./judge-names.ts";

// test/tally-reporter.ts wrote a line for each run.
const lines = readFileSync(process.env["TEST_NAMES_FILE"] ?? "", "utf8")
  .trimEnd()
  .split("\n");
const runs = lines.map((text) => TestNames.parse(JSON.parse(text)));
const { isMet, line } = judgeNames(contractIds(), runs);
process.stdout.write(`${line}\n`);
process.exitCode = isMet ? 0 : 1;

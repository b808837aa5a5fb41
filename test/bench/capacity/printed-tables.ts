import type { BenchRun, Machine } from "../figures/bench-run.ts";
import { inputsOf, readOrigins } from "./inputs.ts";
import { readPriceList } from "./price.ts";
import { arithmeticText } from "./print-capacity.ts";

/** What `npm run bench -- capacity` prints below its inputs, which name their age. */
const PRINTED = /(```text\n)What an installation needs[\s\S]*?(\n```)/;

/** The README of the bench with what these runs give. @throws {Error} when the printed tables are not there. */
export function withPrintedTables(page: string, runs: readonly BenchRun[], here: Machine): string {
  if (!PRINTED.test(page))
    throw new Error("test/bench/README.md has lost the tables of npm run bench -- capacity");
  const inputs = inputsOf(readOrigins(runs, here));
  const lines = [...arithmeticText(inputs, readPriceList(undefined))].join("\n");
  return page.replace(PRINTED, (_, begin: string, end: string) => `${begin}${lines}${end}`);
}

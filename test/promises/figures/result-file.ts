import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";

/** One line for each promise that a full run has finished. In Git, because the table of figures is made from it alone. */
const RESULT_FILE = projectFile("test", "promises", "figures", "results.jsonl");

const PromiseResult = z.object({
  promise: z.int(),
  outcome: z.enum(["passed", "failed", "skipped"]),
  tests: z.int(),
  /** How many of them were skipped. */
  skipped: z.int(),
  cases: z.int(),
  violations: z.int(),
  /** Run time of its files, added up, including what they start and stop. */
  seconds: z.number(),
  seed: z.string(),
  /** Ends in `-changed` if files differed from the commit. */
  commit: z.string(),
  /** ISO 8601, UTC. */
  date: z.string(),
});
export type PromiseResult = z.infer<typeof PromiseResult>;

/** The results in the order of the file. @throws for a line that is not a result. */
export function readResults(path: string = RESULT_FILE): PromiseResult[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => PromiseResult.parse(JSON.parse(line)));
}

export function appendResult(result: PromiseResult, path: string = RESULT_FILE): void {
  appendFileSync(path, `${JSON.stringify(result)}\n`);
}

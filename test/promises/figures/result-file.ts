import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../../schemas/host/project-root.ts";

/** One line for each promise that a full run has finished. Kept in Git: the table of figures is made from it alone. */
const RESULT_FILE = projectFile("test", "promises", "figures", "results.jsonl");

const PromiseResult = z.object({
  promise: z.int(),
  outcome: z.enum(["passed", "failed", "skipped"]),
  tests: z.int(),
  /** Tests among them that were skipped. */
  skipped: z.int(),
  cases: z.int(),
  violations: z.int(),
  /** Of its files, one after the other, with what they start and stop. */
  seconds: z.number(),
  seed: z.string(),
  /** With `-changed` behind it when the tree differed from it. */
  commit: z.string(),
  /** ISO 8601, UTC. */
  date: z.string(),
});
export type PromiseResult = z.infer<typeof PromiseResult>;

/** The results in the order in which they were found. @throws for a line that is no result. */
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

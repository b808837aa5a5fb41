import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { projectFile } from "../../schemas/host/project-root.ts";

/** In Git: `npm test` accepts these results as proof of the requirements that only deep tests show. */
const RESULT_FILE = projectFile("test", "deep", "results.jsonl");

const DeepResult = z.object({
  /** Path from the root. The file has one line, its newest result. */
  file: z.string(),
  result: z.enum(["passed", "failed"]),
  /** Abbreviated; ends in `-changed` if other files differed from the commit. */
  commit: z.string(),
  /** ISO 8601, UTC. */
  date: z.string(),
  seed: z.string(),
  seconds: z.number(),
  /** Time of the worker and the processes it started and waited for. */
  processorSeconds: z.number(),
  /** Full names of the tests that passed. */
  names: z.array(z.string()),
});
export type DeepResult = z.infer<typeof DeepResult>;

/** Sorted by file. @throws for a line that is not a result */
export function readDeepResults(path: string = RESULT_FILE): DeepResult[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => DeepResult.parse(JSON.parse(line)));
}

/**
 * Replaces the line of the file. Lines of files that no longer exist are removed. Whoever is killed here leaves the old file or the new
 * one.
 */
export function keepDeepResult(result: DeepResult, path: string = RESULT_FILE): void {
  const others = readDeepResults(path).filter(
    ({ file }) => file !== result.file && existsSync(projectFile(file)),
  );
  const lines = [...others, result].toSorted((a, b) => (a.file < b.file ? -1 : 1));
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  renameSync(draft, path);
}

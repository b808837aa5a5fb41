/**
 * The second part of `.ci/run`: the deep tests that a change touches, and one of four shards in turn, until TEST_UNTIL_MS (UTC ms). Prints
 * what it leaves out. Run `npm run check` first, which writes the import graph.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { projectFile, projectRoot } from "../../schemas/host/project-root.ts";
import { pathsBelow } from "../architecture/source-files.ts";
import { readDeepResults } from "./deep-results.ts";
import { changedSince, commitCount } from "./history.ts";
import { readImports } from "./import-graph.ts";
import { planDeep } from "./plan-deep.ts";
import { shardsOf } from "./shards.ts";
import { touchedFiles } from "./touched.ts";

const SHARDS = 4;
/** Share of the processors that a run of deep tests uses; the rest of the time it waits. */
const BUSY = 0.75;

const untilMs = Number(process.env["TEST_UNTIL_MS"]);
if (!Number.isFinite(untilMs))
  throw new Error("TEST_UNTIL_MS says until when tests may begin, as UTC ms");

const files = pathsBelow(["test/deep"]).filter((path) => path.endsWith(".test.ts"));
const results = readDeepResults();
const texts = new Map<string, string>();
const textOf = (path: string): string => {
  const text = texts.get(path) ?? readFileSync(projectFile(path), "utf8");
  texts.set(path, text);
  return text;
};
const touched = touchedFiles({ files, imports: readImports(), results, changedSince, textOf });
const shards = shardsOf(files, results, SHARDS);
const turn = (commitCount() % SHARDS) + 1;
const secondsLeft = (untilMs - Date.now()) / 1_000;
const secondsMax = secondsLeft * cpus().length * BUSY;
const { run, leftOut } = planDeep({ touched, shards, turn, costs: results, secondsMax });

const list = (names: readonly string[]): string => names.map((name) => `  ${name}\n`).join("");
process.stdout.write(
  `Deep tests: ${touched.length} of ${files.length} files are touched, shard ${turn} of ${SHARDS} is in turn, ` +
    `${Math.round(secondsLeft / 60)} minutes are left\n` +
    `${run.length} files are run\n` +
    `${leftOut.length} files are left out${leftOut.length > 0 ? `:\n${list(leftOut.toSorted())}` : "\n"}`,
);
if (run.length > 0) {
  const vitest = projectFile("node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "--config", "test/vitest.config.ts", "--project", "deep-*", ...run];
  process.exitCode =
    spawnSync(process.execPath, args, { cwd: projectRoot, stdio: "inherit" }).status ?? 1;
}

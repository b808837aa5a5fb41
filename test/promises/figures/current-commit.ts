import { spawnSync } from "node:child_process";
import { projectRoot } from "../../../schemas/host/project-root.ts";

/** Files that runs write themselves. */
const OWN_FILES = [
  "test/deep/results.jsonl",
  "test/promises/figures/results.jsonl",
  "test/promises/README.md",
];

/** The abbreviated commit of the tree, with the suffix `-changed` if files differ from it; `unknown` outside a Git repository. */
export function currentCommit(): string {
  const commit = git("rev-parse", "--short=10", "HEAD").trim();
  if (commit === "") return "unknown";
  const others = OWN_FILES.map((path) => `:(exclude)${path}`);
  return git("status", "--porcelain", "--", ".", ...others) === "" ? commit : `${commit}-changed`;
}

function git(...args: string[]): string {
  return spawnSync("git", args, { cwd: projectRoot, encoding: "utf8" }).stdout ?? "";
}

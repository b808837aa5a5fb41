import { spawnSync } from "node:child_process";
import { projectRoot } from "../../schemas/host/project-root.ts";

/** The paths that differ between a commit and this tree; undefined without that commit, as in a shallow clone. */
export function changedSince(commit: string): readonly string[] | undefined {
  const text = git("diff", "--name-only", "--no-renames", commit, "--");
  return text?.split("\n").filter((path) => path !== "");
}

/** Commits up to this one, which decide the shard in turn; 0 outside a Git repository. */
export function commitCount(): number {
  return Number(git("rev-list", "--count", "HEAD") ?? 0);
}

/** How many commits came after this one; undefined if it is unknown. */
export function commitsAfter(commit: string): number | undefined {
  const text = git("rev-list", "--count", `${commit}..HEAD`);
  return text === undefined ? undefined : Number(text);
}

/** When the commit of this tree was made (UTC ms); undefined outside a Git repository. */
export function headAtMs(): number | undefined {
  const text = git("log", "-1", "--format=%ct");
  return text === undefined ? undefined : Number(text) * 1_000;
}

function git(...args: string[]): string | undefined {
  const { status, stdout } = spawnSync("git", args, {
    cwd: projectRoot,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return status === 0 ? stdout.trim() : undefined;
}

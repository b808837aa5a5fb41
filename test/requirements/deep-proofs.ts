import type { DeepResult } from "../tiers/deep-results.ts";
import type { DeepProof } from "./judge-names.ts";

const COMMITS_MAX = 50;
const DAY_MS = 24 * 3_600_000;
const DAYS_MAX = 7;

export type History = {
  /** When the commit of this tree was made (UTC ms). Undefined outside a Git repository: then no result is too old. */
  readonly headAtMs: number | undefined;
  /** How many commits came after this one. Undefined if the commit is unknown, as in a shallow clone: then its date decides alone. */
  readonly commitsAfter: (commit: string) => number | undefined;
};

const SOON_COMMITS = 10;
const SOON_DAYS = 1;

/** The same history ten commits and a day later: what is too old in it has to be renewed soon. */
export function soonAfter({ headAtMs, commitsAfter }: History): History {
  return {
    headAtMs: headAtMs === undefined ? undefined : headAtMs + SOON_DAYS * DAY_MS,
    commitsAfter: (commit) => {
      const commits = commitsAfter(commit);
      return commits === undefined ? undefined : commits + SOON_COMMITS;
    },
  };
}

/**
 * What deep results prove about this tree. The age is counted to the commit of the tree and not to today: a clone is judged alike in a
 * year.
 */
export function deepProofs(
  results: readonly DeepResult[],
  { headAtMs, commitsAfter }: History,
): DeepProof[] {
  const counted = new Map<string, number | undefined>();
  const commitsSince = (commit: string): number | undefined => {
    if (!counted.has(commit)) counted.set(commit, commitsAfter(commit.replace(/-changed$/, "")));
    return counted.get(commit);
  };
  return results.map(({ file, names, result, commit, date }) => {
    if (result === "failed") return { file, names, fault: "failed" };
    const commits = commitsSince(commit) ?? 0;
    if (commits > COMMITS_MAX) return { file, names, fault: `${commits} commits ago` };
    const days = headAtMs === undefined ? 0 : Math.floor((headAtMs - Date.parse(date)) / DAY_MS);
    return { file, names, fault: days >= DAYS_MAX ? `${days} days ago` : undefined };
  });
}

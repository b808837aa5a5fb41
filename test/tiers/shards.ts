import type { DeepResult } from "./deep-results.ts";

/** Assumed for a file without a result. */
const SECONDS_UNKNOWN = 30;
/** All files of the browser share one system, which a second shard would have to start again. */
const TOGETHER = /^(test\/deep\/browser)\//;

export type Costs = Pick<DeepResult, "file" | "processorSeconds">;

/**
 * The shard of each file, from 1 to `count`: the costliest group first, each to the shard with the least processor time so far. The same
 * files and results always give the same shards.
 */
export function shardsOf(
  files: readonly string[],
  results: readonly Costs[],
  count: number,
): Map<string, number> {
  const known = new Map(results.map(({ file, processorSeconds }) => [file, processorSeconds]));
  const groups = new Map<string, { files: string[]; seconds: number }>();
  for (const file of files.toSorted()) {
    const name = TOGETHER.exec(file)?.[1] ?? file;
    const group = groups.get(name) ?? { files: [], seconds: 0 };
    group.files.push(file);
    group.seconds += known.get(file) ?? SECONDS_UNKNOWN;
    groups.set(name, group);
  }
  const sums = Array.from({ length: count }, () => 0);
  const shards = new Map<string, number>();
  for (const group of [...groups.values()].toSorted((a, b) => b.seconds - a.seconds)) {
    const least = sums.indexOf(Math.min(...sums));
    sums[least] = (sums[least] ?? 0) + group.seconds;
    for (const file of group.files) shards.set(file, least + 1);
  }
  return shards;
}

import type { Costs } from "./shards.ts";

export type Plan = {
  /** In the order in which they matter. */
  readonly run: readonly string[];
  /** Touched or in turn, but not within the time. */
  readonly leftOut: readonly string[];
};

export type PlanOptions = {
  readonly touched: readonly string[];
  /** Shard of each deep file, from 1. */
  readonly shards: ReadonlyMap<string, number>;
  /** The shard in turn. */
  readonly turn: number;
  readonly costs: readonly Costs[];
  /** Seconds of processor time, over all cores. */
  readonly secondsMax: number;
};

const SECONDS_UNKNOWN = 30;

/**
 * The deep files that a run of CI has time for: those that the change touches, beginning with the shard in turn, then the rest of that
 * shard. A file that does not fit is left out; a shorter one after it may fit.
 */
export function planDeep({ touched, shards, turn, costs, secondsMax }: PlanOptions): Plan {
  const known = new Map(costs.map(({ file, processorSeconds }) => [file, processorSeconds]));
  const count = Math.max(...shards.values());
  const distance = (file: string): number => ((shards.get(file) ?? 0) - turn + count) % count;
  const inTurn = [...shards].filter(([, shard]) => shard === turn).map(([file]) => file);
  const wanted = new Set([...touched.toSorted((a, b) => distance(a) - distance(b)), ...inTurn]);
  const run: string[] = [];
  const leftOut: string[] = [];
  let seconds = 0;
  for (const file of wanted) {
    const cost = known.get(file) ?? SECONDS_UNKNOWN;
    if (seconds + cost > secondsMax) leftOut.push(file);
    else {
      seconds += cost;
      run.push(file);
    }
  }
  return { run, leftOut };
}

import { hostilePatterns, type Pattern } from "./hostile-patterns.ts";
import { HostileWorld, type PatternRun, type StageCosts } from "./hostile-world.ts";
import type { BenchResult } from "./result.ts";

export const HOSTILE_BUDGET = 1.5;
/** Enough clicks on one lane to fill the writer's memory of young clicks, so that old ones leave it. */
const CLICKS = 60_000;
/** At most this many clicks of the normal mix are sent before measuring. */
const WARM_UP_MAX = 300_000;
const LONG_CLICKS = 6_000;
const REPORTS = 4_000;
const LOOKUPS = 2_000;
/** A pattern above the budget, and its baseline, are run again at most this often: other work on the machine can only raise its cost. */
const REPEATS_MAX = 2;
/** Stored clicks with one ad ID, for the pattern that looks up this ID. */
const HOT_CLICKS = 1_000_000;

export type ComparedRun = PatternRun & {
  readonly pattern: Pattern;
  readonly normal: PatternRun;
  /** The larger ratio of ingress and processors, for look-ups of the stores too; per byte for patterns compared by the byte. */
  readonly ratio: number;
};

/** What a request of each hostile pattern costs ingress and the processors, against the normal mix in the same run (P40). */
export async function benchHostile(): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const compared = compareHostile({
    requestsOf: (pattern) => {
      if (pattern.baseline === "reports") return REPORTS;
      if (pattern.baseline === "lookups") return LOOKUPS;
      return pattern.isByByte === true ? LONG_CLICKS : CLICKS;
    },
  });
  for await (const { pattern, normal, ratio, costs, differences } of compared) {
    console.error(`  ${pattern.name}: ${ratio.toFixed(2)}`);
    results.push({
      name: pattern.name,
      figure: differences[0] ?? formatCosts(costs),
      baseline: formatCosts(normal.costs),
      ratio,
      budget: `<= ${HOSTILE_BUDGET.toFixed(2)}`,
      ok: ratio <= HOSTILE_BUDGET && differences.length === 0,
    });
  }
  return results;
}

export type Comparison = {
  /** The number of requests of a pattern. */
  readonly requestsOf: (pattern: Pattern) => number;
  readonly isWanted?: (pattern: Pattern) => boolean;
  readonly padding?: number;
};

/** Runs the selected patterns one after another in one world. */
export async function* compareHostile({
  requestsOf,
  isWanted = () => true,
  padding = 0,
}: Comparison): AsyncGenerator<ComparedRun> {
  await using world = await HostileWorld.open();
  const clickIds: string[] = [];
  const { normal, reports, lookups, hostile } = hostilePatterns(world.catalog, {
    clickIds: () => clickIds.pop() ?? "",
    padding,
  });
  const wanted = hostile.filter(isWanted);
  // Warm up: the just-in-time compiler finishes its work and memory fills up.
  await world.run(normal, Math.min(requestsOf(normal), WARM_UP_MAX));
  await world.measureIdle();
  const usual = {
    clicks: await world.run(normal, requestsOf(normal)),
    reports: undefined as PatternRun | undefined,
    lookups: undefined as PatternRun | undefined,
  };
  if (wanted.some(({ baseline }) => baseline === "reports")) {
    const count = requestsOf(reports);
    clickIds.push(...(await world.clickIds(normal, 2 * count)));
    await world.run(reports, count);
    usual.reports = await world.run(reports, count);
  }
  if (wanted.some(({ baseline }) => baseline === "lookups")) {
    await world.storeHotClicks(HOT_CLICKS);
    await world.run(lookups, requestsOf(lookups));
    usual.lookups = await world.run(lookups, requestsOf(lookups));
  }
  for (const pattern of wanted) {
    const { baseline } = pattern;
    let run = await world.run(pattern, requestsOf(pattern));
    for (let repeat = 0; repeat < REPEATS_MAX; repeat += 1) {
      if (baseline !== "clicks" || ratioOf(run, usual.clicks, pattern) <= HOSTILE_BUDGET) break;
      usual.clicks = cheaper(usual.clicks, await world.run(normal, requestsOf(normal)));
      run = cheaper(run, await world.run(pattern, requestsOf(pattern)));
    }
    const usualRun = usual[baseline] ?? usual.clicks;
    yield { ...run, pattern, normal: usualRun, ratio: ratioOf(run, usualRun, pattern) };
  }
}

/** The lowest costs of two runs of a pattern, with the faults of both. */
function cheaper(one: PatternRun, other: PatternRun): PatternRun {
  return {
    requests: one.requests + other.requests,
    bytes: other.bytes,
    costs: {
      ingress: Math.min(one.costs.ingress, other.costs.ingress),
      processors: Math.min(one.costs.processors, other.costs.processors),
      stores: Math.min(one.costs.stores, other.costs.stores),
    },
    differences: [...one.differences, ...other.differences],
  };
}

function ratioOf(run: PatternRun, normal: PatternRun, pattern: Pattern): number {
  const scale = pattern.isByByte === true ? normal.bytes / run.bytes : 1;
  const ratios = [
    run.costs.ingress / normal.costs.ingress,
    run.costs.processors / normal.costs.processors,
  ];
  if (pattern.baseline === "lookups") ratios.push(run.costs.stores / normal.costs.stores);
  return Math.max(...ratios) * scale;
}

function formatCosts({ ingress, processors, stores }: StageCosts): string {
  return `${ingress.toFixed(1)} + ${processors.toFixed(1)} µs (stores ${stores.toFixed(0)})`;
}

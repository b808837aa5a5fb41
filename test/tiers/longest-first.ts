import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { projectRoot } from "../../schemas/host/project-root.ts";
import { PROMISES, promiseOfFile } from "../promises/promise-list.ts";
import { IS_FULL } from "../promises/report-cases.ts";
import { readDeepResults } from "./deep-results.ts";
import { shardsOf } from "./shards.ts";

const deepResults = readDeepResults();
const deepSeconds = new Map(deepResults.map(({ file, seconds }) => [file, seconds]));

/** Seconds that the longest files of the everyday run take in CI, on two cores. */
const SECONDS: Readonly<Record<string, number>> = {
  "test/deep/integration/catalog/restored-postgres.test.ts": 54,
  "test/integration/clicks/click-writer.test.ts": 48,
  "test/deep/integration/ingress/click-caps.test.ts": 42,
  "test/storm/storm.test.ts": 140,
  "test/newcomer/newcomer.test.ts": 120,
  "test/browser/console/console-smoke.test.ts": 40,
  "test/deep/promises/p35-strict-refuses.test.ts": 100,
};

/**
 * The longest files of a group of projects start first, so that no worker is left alone with a long one at the end. Vitest orders all others.
 * `shards.ts` chooses the files of `--shard k/n`: all shards take about the same processor time.
 */
export class LongestFirst extends BaseSequencer {
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { shard } = this.ctx.config;
    if (shard === undefined) return files;
    const shards = shardsOf(files.map(pathOf), deepResults, shard.count);
    return files.filter((file) => shards.get(pathOf(file)) === shard.index);
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  }
}

function pathOf({ moduleId }: TestSpecification): string {
  return relative(projectRoot, moduleId);
}

function lengthOf(file: TestSpecification): number {
  const promise = promiseOfFile(file.moduleId);
  if (IS_FULL && promise !== undefined)
    return PROMISES.find(({ number }) => number === promise)?.minutes ?? 0;
  const path = pathOf(file);
  return SECONDS[path] ?? deepSeconds.get(path) ?? 0;
}

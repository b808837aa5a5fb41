import { BaseSequencer, type TestSpecification } from "vitest/node";
import { PROMISES, promiseOfFile } from "./promises/promise-list.ts";
import { IS_FULL } from "./promises/report-cases.ts";

/** Seconds that the longest files take in CI, on two cores. */
const SECONDS: Readonly<Record<string, number>> = {
  "integration/ingress/reused-numbers": 81,
  "integration/api/imports-killed": 59,
  "integration/catalog/restored-postgres": 54,
  "integration/delivery/shared-host": 54,
  "integration/clicks/click-writer": 48,
  "integration/clients/typescript-client": 47,
  "integration/ingress/click-caps": 42,
  "deploy/lane-intent": 146,
  "deploy/move-lane": 131,
  "deploy/audit": 115,
  "deploy/lane-raise": 110,
  "deploy/debian-instance": 108,
  "deploy/identity": 104,
  "deploy/backup-external": 99,
  "deploy/ingress-hosts": 89,
  "deploy/move": 83,
  "deploy/lanes": 82,
  "deploy/status": 68,
  "deploy/nats-cluster": 62,
  "deploy/backup": 52,
  "e2e/launcher": 76,
  "e2e/demo-traffic": 71,
  "e2e/first-click-to-report": 63,
  "e2e/readme-lines": 46,
  "promises/p42-strings-of-strangers-never-run": 110,
  "promises/p35-strict-refuses": 100,
  "promises/p38-stores-go-back": 90,
  "promises/p22-delivered-once": 70,
  "promises/p03-nats-loses": 67,
  "promises/p04-clickhouse-killed": 66,
  "promises/p15-outage-is-no-answer": 61,
  "promises/p20-a-day-recounted": 61,
};

/**
 * Within a project the longest files start first, so that no worker is left alone with a long one at the end. Vitest orders all others.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) =>
      a.project.name === b.project.name ? lengthOf(b) - lengthOf(a) : 0,
    );
  }
}

function lengthOf({ moduleId }: TestSpecification): number {
  const promise = promiseOfFile(moduleId);
  if (IS_FULL && promise !== undefined)
    return PROMISES.find(({ number }) => number === promise)?.minutes ?? 0;
  return SECONDS[/\/test\/(.*)\.test\.ts$/.exec(moduleId)?.[1] ?? ""] ?? 0;
}

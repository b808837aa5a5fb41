import { expect, test } from "vitest";
import { overBudget, PART_SECONDS_MAX } from "./budget.ts";

const SECONDS_OF_TWO_CORES_IN_12_MINUTES = 12 * 60 * 2;

test("a file above 20 s of processor time is named with its figure", () => {
  const costs = [
    { project: "integration", name: "test/integration/a.test.ts", processorSeconds: 19.9 },
    { project: "integration", name: "test/integration/b.test.ts", processorSeconds: 21 },
  ];
  expect(overBudget(costs, 0.8)).toEqual([
    "test/integration/b.test.ts took 21 s of processor time, and may take 20 s in `npm test`",
  ]);
});

test("a unit test file may take half as much", () => {
  const costs = [{ project: "unit", name: "api/a.test.ts", processorSeconds: 11 }];
  expect(overBudget(costs, 0.8)).toEqual([
    "api/a.test.ts took 11 s of processor time, and may take 10 s in `npm test`",
  ]);
});

test("a part whose files together take more than its row is named", () => {
  const costs = Array.from({ length: 6 }, (_, file) => ({
    project: "deploy",
    name: `test/deploy/${file}.test.ts`,
    processorSeconds: 15,
  }));
  expect(overBudget(costs, 0.8)).toEqual([
    "project deploy took 90 s of processor time, and may take 75 s in `npm test`",
  ]);
});

test("on a machine that other programs keep busy, a half more is allowed", () => {
  const costs = [{ project: "integration", name: "test/a.test.ts", processorSeconds: 29 }];
  expect(overBudget(costs, 0.99)).toEqual([]);
  expect(overBudget([{ project: "unit", name: "a.test.ts", processorSeconds: 16 }], 0.99)).toEqual([
    "a.test.ts took 16 s of processor time, and may take 15 s in `npm test`",
  ]);
});

test("files of the deep tier have no budget", () => {
  const costs = [{ project: "deep-deploy", name: "test/deep/a.test.ts", processorSeconds: 900 }];
  expect(overBudget(costs, 0.8)).toEqual([]);
});

test("all parts together leave the shared servers and the build a sixth of 12 minutes of two cores", () => {
  const parts = Object.values(PART_SECONDS_MAX).reduce((sum, seconds) => sum + seconds, 0);
  expect(parts).toBeLessThan((5 / 6) * SECONDS_OF_TWO_CORES_IN_12_MINUTES);
});

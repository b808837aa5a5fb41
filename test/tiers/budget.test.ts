import { expect, test } from "vitest";
import { type Cost, FAILS_FROM, overBudget, PART_SECONDS_MAX, YARDSTICK_MS } from "./budget.ts";

const SECONDS_OF_TWO_CORES_IN_12_MINUTES = 12 * 60 * 2;

function cost(project: string, name: string, processorSeconds: number, slowness = 1): Cost {
  return { project, name, processorSeconds, yardstickMs: slowness * YARDSTICK_MS };
}

test("a file above 20 s of processor time is named with its figure", () => {
  const costs = [
    cost("integration", "test/integration/a.test.ts", 19.9),
    cost("integration", "test/integration/b.test.ts", 21),
  ];
  expect(overBudget(costs)).toEqual([
    "test/integration/b.test.ts took 21 s of processor time, and may take 20 s in `npm test`",
  ]);
});

test("a unit test file may take half as much", () => {
  expect(overBudget([cost("unit", "api/a.test.ts", 11)])).toEqual([
    "api/a.test.ts took 11 s of processor time, and may take 10 s in `npm test`",
  ]);
});

test("a part whose files together take more than its row is named", () => {
  const costs = Array.from({ length: 6 }, (_, file) =>
    cost("deploy", `test/deploy/${file}.test.ts`, 15),
  );
  expect(overBudget(costs)).toEqual([
    "project deploy took 90 s of processor time, and may take 75 s in `npm test`",
  ]);
});

test("a machine on which the same work takes half more may take half more, and a fast one no less", () => {
  expect(overBudget([cost("integration", "test/a.test.ts", 29, 1.5)])).toEqual([]);
  expect(overBudget([cost("integration", "test/a.test.ts", 19, 0.5)])).toEqual([]);
  expect(overBudget([cost("unit", "a.test.ts", 16, 1.5)])).toEqual([
    "a.test.ts took 16 s of processor time, and may take 15 s in `npm test`",
  ]);
});

test("a project that ran while the machine was slow is judged by its own files", () => {
  const quick = Array.from({ length: 9 }, (_, file) => cost("unit", `${file}.test.ts`, 1));
  const slow = Array.from({ length: 5 }, (_, file) => cost("browser", `${file}.test.ts`, 18, 2));
  expect(overBudget([...quick, ...slow])).toEqual([]);
  expect(overBudget([...quick, ...slow.slice(0, 4), cost("browser", "a.test.ts", 41, 2)])).toEqual([
    "a.test.ts took 41 s of processor time, and may take 40 s in `npm test`",
  ]);
});

test("what is a little above is named, and only what is far above fails the run", () => {
  expect(overBudget([cost("unit", "a.test.ts", 14)], FAILS_FROM)).toEqual([]);
  expect(overBudget([cost("unit", "a.test.ts", 16)], FAILS_FROM)).toEqual([
    "a.test.ts took 16 s of processor time, and may take 15 s in `npm test`",
  ]);
});

test("files of the deep tier have no budget", () => {
  expect(overBudget([cost("deep-deploy", "test/deep/a.test.ts", 900)])).toEqual([]);
});

test("all parts together leave the shared servers and the build a sixth of 12 minutes of two cores", () => {
  const parts = Object.values(PART_SECONDS_MAX).reduce((sum, seconds) => sum + seconds, 0);
  expect(parts).toBeLessThan((5 / 6) * SECONDS_OF_TWO_CORES_IN_12_MINUTES);
});

import { expect, test } from "vitest";
import { type PlanOptions, planDeep } from "./plan-deep.ts";

const OPTIONS: PlanOptions = {
  touched: ["d", "b"],
  shards: new Map([
    ["a", 1],
    ["b", 2],
    ["c", 3],
    ["d", 1],
    ["e", 2],
  ]),
  turn: 2,
  costs: ["a", "b", "c", "d", "e"].map((file) => ({ file, processorSeconds: 10 })),
  secondsMax: 100,
};

test("touched files come first, those of the shard in turn before others, then the rest of that shard", () => {
  expect(planDeep(OPTIONS)).toEqual({ run: ["b", "d", "e"], leftOut: [] });
});

test("what does not fit into the time is left out by name, and a shorter file after it still runs", () => {
  const costs = [
    { file: "b", processorSeconds: 10 },
    { file: "d", processorSeconds: 25 },
    { file: "e", processorSeconds: 9 },
  ];
  expect(planDeep({ ...OPTIONS, costs, secondsMax: 20 })).toEqual({
    run: ["b", "e"],
    leftOut: ["d"],
  });
});

test("without touched files the shard in turn runs", () => {
  expect(planDeep({ ...OPTIONS, touched: [], turn: 1 })).toEqual({ run: ["a", "d"], leftOut: [] });
});

test("without time everything is left out", () => {
  expect(planDeep({ ...OPTIONS, secondsMax: -5 })).toEqual({ run: [], leftOut: ["b", "d", "e"] });
});

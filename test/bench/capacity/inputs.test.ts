import { expect, test } from "vitest";
import { readRuns } from "../figures/run-file.ts";
import { inputsOf, readOrigins } from "./inputs.ts";
import { HERE, knownOrigins } from "./known-inputs.ts";

test("the figures in the repository are enough for all tables", () => {
  const values = Object.values(inputsOf(readOrigins(readRuns(), HERE)));
  expect(values.filter((value) => !Number.isFinite(value))).toEqual([]);
});

test("a figure that no bench has measured is an error that names it, or an assumption", () => {
  expect(() => readOrigins([], HERE)).toThrow(/oneLinkRedirectsPerSecond .* npm run bench/);
  const withoutStream = readRuns().filter(({ bench }) => bench !== "stream");
  const stream = readOrigins(withoutStream, HERE).find(({ name }) => name === "streamMessageMs");
  expect(stream).toMatchObject({ mark: "assumed", value: 0.6 });
});

test("a figure of another number of cores is measured elsewhere", () => {
  const marks = new Set(knownOrigins([], { ...HERE, cores: 64 }).map(({ mark }) => mark));
  expect([...marks].toSorted()).toEqual(["assumed", "measured elsewhere"]);
});

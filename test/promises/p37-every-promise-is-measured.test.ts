import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LAST_PROMISE, NOT_BUILT, PROMISES } from "./promise-list.ts";

const FILE = /^p(\d{2})-[a-z0-9-]+\.test\.ts$/;
const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".test.ts"));
const numbers = Array.from({ length: LAST_PROMISE }, (_, i) => i + 1);

test("every promise about a part that exists has its own test file (P37, #24)", () => {
  expect(files.filter((name) => !FILE.test(name))).toEqual([]);
  const tested = new Set(files.map((name) => Number(FILE.exec(name)?.[1])));
  expect(numbers.filter((number) => !tested.has(number) && !(number in NOT_BUILT))).toEqual([]);
  expect([...tested].filter((number) => number in NOT_BUILT)).toEqual([]);
  expect([...tested].toSorted((a, b) => a - b)).toEqual(PROMISES.map(({ number }) => number));
});

test("every random choice of a promise comes from SEED (P37, #24, #25)", () => {
  const unseeded = files.filter((name) => {
    const source = readFileSync(join(import.meta.dirname, name), "utf8");
    return /Math\.random|_SEED"\]/.test(source.replaceAll(/\/\/.*|"[^"]*"/g, ""));
  });
  expect(unseeded).toEqual([]);
});

import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { projectFile } from "../../schemas/host/project-root.ts";
import { LAST_PROMISE, NOT_BUILT, PROMISE_FOLDERS, PROMISES } from "./promise-list.ts";

const FILE = /^p(\d{2})-[a-z0-9-]+\.test\.ts$/;
const paths = PROMISE_FOLDERS.flatMap((folder) =>
  readdirSync(projectFile(folder)).map((name) => projectFile(folder, name)),
).filter((path) => path.endsWith(".test.ts"));
const files = paths.map((path) => basename(path));
const numbers = Array.from({ length: LAST_PROMISE }, (_, i) => i + 1);

test("every promise about a part that exists has its own test file (P37, #24)", () => {
  expect(files.filter((name) => !FILE.test(name))).toEqual([]);
  const tested = new Set(files.map((name) => Number(FILE.exec(name)?.[1])));
  expect(numbers.filter((number) => !tested.has(number) && !(number in NOT_BUILT))).toEqual([]);
  expect([...tested].filter((number) => number in NOT_BUILT)).toEqual([]);
  expect([...tested].toSorted((a, b) => a - b)).toEqual(PROMISES.map(({ number }) => number));
});

test("every random choice of a promise comes from SEED (P37, #24, #25)", () => {
  const unseeded = paths.filter((path) => {
    const source = readFileSync(path, "utf8");
    return /Math\.random|_SEED"\]/.test(source.replaceAll(/\/\/.*|"[^"]*"/g, ""));
  });
  expect(unseeded).toEqual([]);
});

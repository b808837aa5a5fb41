import { expect, test } from "vitest";
import { judgeNames } from "./judge-names.ts";

const ID = (number: number): string => `ZZ-${String(number).padStart(3, "0")}`;
const IDS = [ID(1), ID(2), "G14", "P9"];

test("a requirement is met by a test that passed in any of the runs", () => {
  const runs = [
    { passed: [`group (${ID(2)}) > one`], skipped: [] },
    { passed: [`another (${ID(1)}, G14)`], skipped: [`a third (${ID(1)})`] },
  ];
  expect(judgeNames(IDS, runs)).toEqual({
    isMet: true,
    line: "Requirements: 2 of 2 are in the name of a test that passed",
  });
});

test("a requirement whose tests were all skipped is listed and is no fault", () => {
  const runs = [{ passed: [`one (${ID(1)})`], skipped: [`a browser (${ID(2)})`] }];
  expect(judgeNames(IDS, runs)).toEqual({
    isMet: true,
    line: `Requirements: 1 of 2 are in the name of a test that passed; skipped here: ${ID(2)}`,
  });
});

test("a requirement in no name, or only within a range of two IDs, is a fault", () => {
  const ids = [ID(1), ID(2), ID(3)];
  const runs = [{ passed: [`all of (${ID(1)} to ${ID(3)})`], skipped: [] }];
  expect(judgeNames(ids, runs)).toEqual({
    isMet: false,
    line: `Requirements: 2 of 3 are in the name of a test that passed; in no such name: ${ID(2)}`,
  });
});

test("a run that reported nothing, and a contract without requirements, are faults", () => {
  expect(judgeNames(IDS, []).isMet).toBe(false);
  expect(judgeNames(["G14"], [{ passed: ["one"], skipped: [] }]).isMet).toBe(false);
});

test("a requirement that only a deep result names is met while the result is sound", () => {
  const runs = [{ passed: [`one (${ID(1)})`], skipped: [] }];
  const proof = { file: "test/deep/two.test.ts", names: [`two (${ID(2)})`] };
  expect(judgeNames(IDS, runs, [proof])).toEqual({
    isMet: true,
    line: "Requirements: 2 of 2 are in the name of a test that passed; 1 of them in a deep result",
  });
  expect(judgeNames(IDS, runs, [{ ...proof, fault: "51 commits ago" }])).toEqual({
    isMet: false,
    line: `Requirements: 1 of 2 are in the name of a test that passed; ${ID(2)} only in test/deep/two.test.ts (51 commits ago)`,
  });
});

test("a run proves a requirement whose deep result is red or too old", () => {
  const runs = [{ passed: [`one (${ID(1)}) and two (${ID(2)})`], skipped: [] }];
  const proof = { file: "test/deep/two.test.ts", names: [`two (${ID(2)})`], fault: "failed" };
  expect(judgeNames(IDS, runs, [proof]).isMet).toBe(true);
});

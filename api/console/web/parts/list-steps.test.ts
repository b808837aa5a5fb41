import { expect, test } from "vitest";
import { stepped, steppedByKey } from "./list-steps.ts";

test("arrow keys go round, and stay at the start of an empty list", () => {
  expect([stepped(2, 1, 3), stepped(0, -1, 3), stepped(0, 1, 0)]).toEqual([0, 2, 0]);
});

test("Home and End reach the ends, and other keys move nothing", () => {
  const from = (key: string) => steppedByKey(key, 1, 4);
  expect(["ArrowDown", "ArrowUp", "Home", "End", "a"].map(from)).toEqual([2, 0, 0, 3, undefined]);
  expect(steppedByKey("End", 0, 0)).toBe(0);
});

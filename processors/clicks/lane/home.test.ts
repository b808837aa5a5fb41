import { expect, test } from "vitest";
import { assertSameShard } from "./home.ts";

test("a lane is not written on another shard than the one that has its rows", () => {
  const onOther = (): void => assertSameShard({ name: "1-2" }, "2-1");
  expect(onOther).toThrow("on shard 2, and this process writes to 1-2");
  expect(() => assertSameShard({ name: "12-1" }, "1-1")).toThrow("on shard 1");
});

test.each([
  ["1-2", "1-1"],
  ["1-1", undefined],
  [null, null],
  [null, undefined],
])("a lane goes on at %s after %s: its shard, a first home, or a server alone", (name, last) => {
  expect(() => assertSameShard({ name }, last)).not.toThrow();
});

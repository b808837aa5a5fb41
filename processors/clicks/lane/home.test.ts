import { expect, test } from "vitest";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { assertSameShard, type Home } from "./home.ts";

const home = (name: string | null): Home => ({
  name,
  clickhouse: {} as unknown as Clickhouse,
  layout: name === null ? "single" : "cluster",
});

test("a lane is not written on another shard than the one that has its rows", () => {
  expect(() => assertSameShard(home("1-2"), "2-1")).toThrow(
    "on shard 2, and this process writes to 1-2",
  );
  expect(() => assertSameShard(home("12-1"), "1-1")).toThrow("on shard 1");
});

test("a lane goes on at another replica of its shard, anywhere if it is new, and on a server alone", () => {
  for (const [name, last] of [
    ["1-2", "1-1"],
    ["1-1", undefined],
    [null, null],
    [null, undefined],
  ] as const)
    expect(() => assertSameShard(home(name), last)).not.toThrow();
});

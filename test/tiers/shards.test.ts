import { expect, test } from "vitest";
import { shardsOf } from "./shards.ts";

const costOf = (file: string, processorSeconds: number) => ({ file, processorSeconds });

test("each file has one shard, and shards take about the same processor time", () => {
  const files = ["a", "b", "c", "d", "e"].map((name) => `test/deep/${name}.test.ts`);
  const results = files.map((file, at) => costOf(file, [90, 60, 40, 30, 20][at] ?? 0));
  const shards = shardsOf(files, results, 2);
  expect([...shards.keys()].toSorted()).toEqual(files);
  const sums = [1, 2].map((shard) =>
    results
      .filter(({ file }) => shards.get(file) === shard)
      .reduce((sum, { processorSeconds }) => sum + processorSeconds, 0),
  );
  expect(sums).toEqual([120, 120]);
});

test("the order of the files does not change their shards", () => {
  const files = Array.from({ length: 20 }, (_, at) => `test/deep/${at}.test.ts`);
  expect(shardsOf(files.toReversed(), [], 4)).toEqual(shardsOf(files, [], 4));
});

test("files of the browser share a shard, because they share a system", () => {
  const files = ["browser/a", "browser/console/b", "deploy/c"].map(
    (name) => `test/deep/${name}.test.ts`,
  );
  const shards = shardsOf(files, [costOf(files[2] ?? "", 100)], 2);
  expect(shards.get(files[0] ?? "")).toBe(shards.get(files[1] ?? ""));
  expect(shards.get(files[0] ?? "")).not.toBe(shards.get(files[2] ?? ""));
});

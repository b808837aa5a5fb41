import { describe, expect, test } from "vitest";
import { clusterForm } from "./layout.ts";

const PLACE = { cluster: "tracker", installation: "one" };
const table = (name: string, end: string): string =>
  `create table if not exists ${name}\n(\n  a UInt8\n)\n${end}`;
const CLICKS = table(
  "click",
  "engine = MergeTree\norder by a\nsettings non_replicated_deduplication_window = 10000",
);

test("clicks have a path for each shard, and know a repeated insert for a day", () => {
  expect(clusterForm(CLICKS, PLACE)).toBe(
    `create table if not exists click on cluster 'tracker'\n(\n  a UInt8\n)
engine = ReplicatedMergeTree('/tracker/one/click/{shard}', '{replica}')
order by a
settings replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 86400`,
  );
});

test("facts have one path for all nodes, and store a row again that was deleted before", () => {
  const facts = table(
    "conversion_fact",
    "engine = ReplacingMergeTree(version)\npartition by toYYYYMM(b)\norder by (a, b)\nsettings fsync_after_insert = 1",
  );
  expect(clusterForm(facts, PLACE)).toContain(
    `engine = ReplicatedReplacingMergeTree('/tracker/one/conversion_fact', '{shard}-{replica}', version)
partition by toYYYYMM(b)
order by (a, b)
settings fsync_after_insert = 1, replicated_deduplication_window = 0`,
  );
});

test("the fence of lanes is on each node by itself", () => {
  const fence = table("lane_fence", "engine = ReplacingMergeTree(epoch)\norder by lane");
  expect(clusterForm(fence, PLACE)).toContain(
    "create table if not exists lane_fence on cluster 'tracker'\n(\n  a UInt8\n)\nengine = ReplacingMergeTree(epoch)\n",
  );
});

test("an alter names the cluster, with all of its commands", () => {
  const alter =
    "alter table click modify column a codec(ZSTD(3)),\n  add column if not exists b String";
  expect(clusterForm(alter, PLACE)).toBe(
    "alter table click on cluster 'tracker'\n  modify column a codec(ZSTD(3)),\n  add column if not exists b String",
  );
});

describe("what is not known is refused", () => {
  test.each([
    ["a table without a place", CLICKS.replace("click", "visit"), /does not say where/],
    ["an alter of such a table", "alter table visit modify setting a = 1", /does not say where/],
    ["another engine", CLICKS.replace("= MergeTree", "= Log"), /engine of the table click/],
    ["a table that may exist", CLICKS.replace(" if not exists", ""), /no cluster form/],
    ["rows that are changed", "alter table click update a = 1 where 1", /no cluster form/],
    [
      "a second command",
      "alter table click modify setting a = 1, drop column b",
      /no cluster form/,
    ],
    ["a partition", "alter table click drop partition 1", /no cluster form/],
    ["an insert", "insert into click select 1", /no cluster form/],
    ["clicks that forget their inserts", CLICKS.replace(/\nsettings.*/, ""), /must remember/],
    ["text after the settings", `${CLICKS} comment 'x'; drop table click`, /engine of the table/],
  ])("%s", (_, statement, fault) => {
    expect(() => clusterForm(statement, PLACE)).toThrow(fault);
  });

  test("a name that is no name", () => {
    expect(() => clusterForm(CLICKS, { ...PLACE, cluster: "a'b" })).toThrow(/not a name/);
    expect(() => clusterForm(CLICKS, { ...PLACE, installation: "../x" })).toThrow(/not a name/);
  });
});

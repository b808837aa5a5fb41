import { describe, expect, test } from "vitest";
import { QuorumError } from "./errors.ts";
import { answersNeeded, assertQuorum, type NodeAnswer } from "./read-quorum.ts";

/** Replicas of each shard, named by shard and replica: `[2, 1]` is 1a, 1b, 2a. */
function listedOf(...replicas: readonly number[]): { shard: number; host: string }[] {
  return replicas.flatMap((count, index) =>
    Array.from({ length: count }, (_, at) => ({
      shard: index + 1,
      host: `${index + 1}${"abcde"[at] ?? ""}`,
    })),
  );
}

function answersOf(
  listed: readonly unknown[],
  numbers: readonly number[],
  fields: Partial<NodeAnswer> = {},
): NodeAnswer[] {
  const one = { replicas: listed.length, isBehind: false, isCut: false };
  return numbers.map((number) => ({ number, ...one, ...fields }));
}

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [4, 2],
  [5, 3],
])("of %i replicas %i answers are needed: one of any insert quorum, and no more", (all, needed) => {
  const acknowledging = Math.floor(all / 2) + 1;
  expect(answersNeeded(all)).toBe(needed);
  expect(needed + acknowledging).toBe(all + 1);
});

describe("answers of the nodes of a cluster", () => {
  test.each([
    ["two of three replicas", [3], [1, 3]],
    ["one of two replicas", [2], [2]],
    ["the only replica of each shard", [1, 1], [1, 2]],
    ["three of five replicas of one shard and one of two of the other", [5, 2], [2, 4, 5, 7]],
  ])("%s are enough", (_, replicas, numbers) => {
    const listed = listedOf(...replicas);
    expect(() =>
      assertQuorum("tracker", { listed, answers: answersOf(listed, numbers) }),
    ).not.toThrow();
  });

  test.each([
    ["none", [3], [], "1a, 1b, 1c"],
    ["one of three replicas", [3], [1], "1b, 1c"],
    ["one of three replicas, twice", [3], [1, 1], "1b, 1c"],
    ["only one of two shards", [1, 1], [1], "2a"],
    ["all of one shard and one of three of the other", [3, 3], [1, 2, 3, 5], "2a, 2c"],
  ])("%s are too few, and the error names those that are away", (_, replicas, numbers, away) => {
    const listed = listedOf(...replicas);
    const judging = (): void =>
      assertQuorum("tracker", { listed, answers: answersOf(listed, numbers) });
    expect(judging).toThrow(QuorumError);
    expect(judging).toThrow(new RegExp(`: ${away}$`));
  });

  test("a replica that is behind is not counted", () => {
    const listed = listedOf(3);
    const behind = answersOf(listed, [2], { isBehind: true });
    const withOthers = [...answersOf(listed, [1, 3]), ...behind];
    expect(() => assertQuorum("tracker", { listed, answers: withOthers })).not.toThrow();
    const withOne = [...answersOf(listed, [1]), ...behind];
    expect(() => assertQuorum("tracker", { listed, answers: withOne })).toThrow(QuorumError);
  });

  test("a node that lists more replicas than the one that is asked makes the answer uncertain", () => {
    const listed = listedOf(3);
    const answers = [...answersOf(listed, [1, 2]), ...answersOf(listed, [3], { replicas: 5 })];
    expect(() => assertQuorum("tracker", { listed, answers })).toThrow(QuorumError);
  });

  const one = listedOf(1);
  const three = listedOf(3);
  const cut = answersOf(three, [2], { isCut: true });
  test.each([
    ["a cluster that nobody lists", { listed: [], answers: [] }, /is not in remote_servers/],
    ["a replica that is not listed", { listed: one, answers: answersOf(one, [2]) }, /2 of 1/],
    ["an answer without a number", { listed: one, answers: answersOf(one, [0]) }, /0 of 1/],
    ["a replica that is listed twice", { listed: [...one, ...one], answers: [] }, /has 1a twice/],
    ["more rows than may be read", { listed: three, answers: cut }, /more rows on 1b than/],
  ])("%s: an error, not an outage", (_, merged, message) => {
    const judging = (): void => assertQuorum("tracker", merged);
    expect(judging).toThrow(message);
    expect(judging).not.toThrow(QuorumError);
  });
});

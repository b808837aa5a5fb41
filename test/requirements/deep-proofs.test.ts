import { expect, test } from "vitest";
import type { DeepResult } from "../tiers/deep-results.ts";
import { deepProofs, soonAfter } from "./deep-proofs.ts";

const HEAD_AT_MS = Date.parse("2026-11-20T12:00:00Z");

function resultOf(more: Partial<DeepResult>): DeepResult {
  return {
    file: "test/deep/one.test.ts",
    result: "passed",
    commit: "abcdef0123",
    date: "2026-11-20T10:00:00.000Z",
    seed: "7",
    seconds: 10,
    processorSeconds: 8,
    names: ["one"],
    ...more,
  };
}

function faultOf(more: Partial<DeepResult>, commits: number | undefined = 0): string | undefined {
  const history = { headAtMs: HEAD_AT_MS, commitsAfter: () => commits };
  return deepProofs([resultOf(more)], history)[0]?.fault;
}

test("a deep result proves its names for 50 commits and less than seven days", () => {
  expect(faultOf({}, 50)).toBeUndefined();
  expect(faultOf({}, 51)).toBe("51 commits ago");
  expect(faultOf({ date: "2026-11-13T12:00:01.000Z" })).toBeUndefined();
  expect(faultOf({ date: "2026-11-13T12:00:00.000Z" })).toBe("7 days ago");
});

test("a failed deep result proves nothing, however new it is", () => {
  expect(faultOf({ result: "failed" })).toBe("failed");
});

test("the date decides alone where the commit of the result is unknown", () => {
  const history = { headAtMs: HEAD_AT_MS, commitsAfter: () => undefined };
  const proofs = deepProofs([resultOf({}), resultOf({ date: "2026-11-01T00:00:00Z" })], history);
  expect(proofs.map(({ fault }) => fault)).toEqual([undefined, "19 days ago"]);
});

test("the commits after a result with changed files are counted from its commit", () => {
  const asked: string[] = [];
  const commitsAfter = (commit: string): number => asked.push(commit);
  deepProofs([resultOf({ commit: "abcdef0123-changed" })], { headAtMs: HEAD_AT_MS, commitsAfter });
  expect(asked).toEqual(["abcdef0123"]);
});

test("outside a Git repository no result is too old", () => {
  const history = { headAtMs: undefined, commitsAfter: () => undefined };
  expect(deepProofs([resultOf({ date: "2020-01-01T00:00:00Z" })], history)[0]?.fault).toBe(
    undefined,
  );
});

test("a result that ten more commits or one more day make too old is found beforehand", () => {
  const soon = (more: Partial<DeepResult>, commits: number | undefined): string | undefined =>
    deepProofs(
      [resultOf(more)],
      soonAfter({ headAtMs: HEAD_AT_MS, commitsAfter: () => commits }),
    )[0]?.fault;
  expect(soon({}, 40)).toBeUndefined();
  expect(soon({}, 41)).toBe("51 commits ago");
  expect(soon({}, undefined)).toBeUndefined();
  expect(soon({ date: "2026-11-14T12:00:00.000Z" }, 0)).toBe("7 days ago");
});

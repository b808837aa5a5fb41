import { expect, test } from "vitest";
import type { FactRow, PostgresFactRow } from "./fact-rows.ts";
import { kindOf } from "./find-differences.ts";

function copy(version: number, digest = `v${version}`): FactRow {
  return { id: "1", atMs: 0, offerId: 0, version, digest, currency: "USD", money: ["1.0000"] };
}

function record(version: number, isPending = false): PostgresFactRow {
  return { ...copy(version), isPending };
}

test.each([
  ["missing", record(2), undefined, undefined],
  ["older", record(2), copy(1), copy(1)],
  ["changed", record(2), copy(2, "other"), copy(2, "other")],
  ["ahead", record(2), copy(3), copy(3)],
  ["ghost", undefined, copy(1), copy(1)],
] as const)("a %s copy is a difference (#2)", (kind, ours, now, before) => {
  expect(kindOf(ours, now, before)).toBe(kind);
});

test.each([
  ["equal", record(2), copy(2), copy(2)],
  ["copied meanwhile", record(2), copy(2), copy(1)],
  ["waiting in the outbox", record(2, true), copy(1), copy(1)],
  ["changed after Postgres was read", record(2), copy(3), copy(2)],
  ["made after ClickHouse was first read", undefined, copy(1), undefined],
  ["deleted meanwhile", undefined, undefined, copy(1)],
] as const)("a copy that is %s is no difference (#2)", (_, ours, now, before) => {
  expect(kindOf(ours, now, before)).toBeUndefined();
});

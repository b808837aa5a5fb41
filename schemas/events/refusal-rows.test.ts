import { expect, test } from "vitest";
import type { InboundCall } from "./inbound-call.ts";
import { RefusalRows } from "./refusal-rows.ts";

const MINUTE_MS = 60_000;

function call(changes: Partial<InboundCall> = {}): InboundCall {
  return {
    endpoint: "pb",
    workspaceId: 1,
    receivedAtMs: 0,
    ip: "192.0.2.1",
    params: {},
    httpStatus: 405,
    result: "method_not_allowed",
    clickId: null,
    message: "no",
    ...changes,
  };
}

function admitted(rows: RefusalRows, one: InboundCall, times: number): number {
  return Array.from({ length: times }, () => rows.admit(one)).filter(Boolean).length;
}

test("60 refusals of a kind a minute have a row each, the others share one after the minute (PB-064)", () => {
  let nowMs = 0;
  const rows = new RefusalRows(() => nowMs);
  expect(admitted(rows, call(), 1_000)).toBe(60);
  expect(rows.admit(call({ receivedAtMs: 7 }))).toBe(false);
  nowMs = MINUTE_MS - 1;
  expect(rows.takeDue()).toEqual([]);
  nowMs = MINUTE_MS;
  expect(rows.takeDue()).toEqual([
    call({ receivedAtMs: 7, message: "no (941 times in a minute)" }),
  ]);
  expect(rows.takeDue()).toEqual([]);
  expect(admitted(rows, call(), 61)).toBe(60);
});

test("workspaces, endpoints and result words do not take each other's rows (PB-064)", () => {
  const rows = new RefusalRows(() => 0);
  admitted(rows, call(), 100);
  for (const other of [
    { workspaceId: 2 },
    { workspaceId: null },
    { endpoint: "px" as const },
    { result: "malformed" as const },
  ])
    expect(admitted(rows, call(other), 100)).toBe(60);
});

test("counted refusals are logged at the end too, and a minute without more has no row (PB-064)", () => {
  const rows = new RefusalRows(() => 0);
  admitted(rows, call(), 60);
  admitted(rows, call({ workspaceId: 2 }), 61);
  expect(rows.takeDue(true)).toEqual([call({ workspaceId: 2 })]);
});

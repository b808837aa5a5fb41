import { ClickHouseError } from "@clickhouse/client";
import { expect, test } from "vitest";
import { isClickhouseAway, QuorumError } from "./errors.ts";

test.each([
  ["ENETUNREACH", true],
  ["ENETDOWN", true],
  ["EHOSTDOWN", true],
  ["EHOSTUNREACH", true],
  ["ECONNABORTED", true],
  ["ECONNREFUSED", true],
  ["ENOENT", false],
])("a request that failed with %s is an outage: %s (P15)", (code, isAway) => {
  expect(isClickhouseAway(Object.assign(new Error("failed"), { code }))).toBe(isAway);
});

test.each([
  ["210", true],
  ["62", false],
])("an answer with the code %s is an outage: %s (P15)", (code, isAway) => {
  expect(isClickhouseAway(new ClickHouseError({ code, message: "failed" }))).toBe(isAway);
});

test("too few answers of replicas are an outage (P15)", () => {
  expect(isClickhouseAway(new QuorumError("1 of 3 replicas"))).toBe(true);
});

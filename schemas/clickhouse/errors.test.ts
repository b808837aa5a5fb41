import { ClickHouseError } from "@clickhouse/client";
import { expect, test } from "vitest";
import { isClickhouseAway, lacksDatabase, QuorumError } from "./errors.ts";

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
  // Too few replicas are connected: a majority of the nodes is lost.
  ["285", true],
  ["62", false],
])("an answer with the code %s is an outage: %s (P15)", (code, isAway) => {
  expect(isClickhouseAway(new ClickHouseError({ code, message: "failed" }))).toBe(isAway);
});

test("too few answers of replicas are an outage (P15)", () => {
  expect(isClickhouseAway(new QuorumError("1 of 3 replicas"))).toBe(true);
});

test("a node that was emptied lacks the database, and is none that is away", () => {
  const emptied = new ClickHouseError({ code: "81", message: "Database tracker does not exist" });
  expect([lacksDatabase(emptied), isClickhouseAway(emptied)]).toEqual([true, false]);
});

import { expect, test } from "vitest";
import { isPostgresAway } from "./errors.ts";

test.each([
  ["ENETUNREACH", true],
  ["ENETDOWN", true],
  ["EHOSTDOWN", true],
  ["EHOSTUNREACH", true],
  ["ECONNABORTED", true],
  ["ECONNREFUSED", true],
  // A primary that has become a standby.
  ["25006", true],
  ["57P01", true],
  // A password that is being changed.
  ["28P01", true],
  // A process that stood still in a transaction.
  ["25P03", true],
  ["25P04", true],
  ["25001", false],
  ["25P02", false],
  ["23505", false],
  ["42P01", false],
])("a statement that failed with %s is an outage: %s (P15)", (code, isAway) => {
  expect(isPostgresAway(Object.assign(new Error("failed"), { code }))).toBe(isAway);
});

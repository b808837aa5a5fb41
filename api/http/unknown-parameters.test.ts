import { expect, test } from "vitest";
import { ApiError } from "../operation/errors.ts";
import { refuseManyParameters, refuseUnknownParameters } from "./unknown-parameters.ts";

function refusalOf(given: readonly string[], known: readonly string[]): string[] | undefined {
  try {
    refuseUnknownParameters(given, known);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [error.code, error.details?.param ?? "", error.message];
  }
}

const KNOWN = ["limit", "status"];

test("every unknown parameter is named with the nearest known one (#21, G14)", () => {
  expect(refusalOf(["limit", "staus", "lmit"], KNOWN)).toEqual([
    "invalid_parameter",
    "staus",
    'unknown query parameter "staus" (the nearest known one is "status"), "lmit" (the nearest known one is "limit")',
  ]);
  expect(refusalOf(["x"], [])).toEqual([
    "invalid_parameter",
    "x",
    'unknown query parameter "x"; this path accepts none',
  ]);
});

test("names that begin with an underscore are ignored (#21, ENV-036)", () => {
  expect(refusalOf(["_", "_ts", "__proto__", "limit"], KNOWN)).toBeUndefined();
  expect(refusalOf(["constructor"], KNOWN)).toMatchObject({ 1: "constructor" });
});

test("the message stays short for any number and length of names", () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `${"x".repeat(1_000)}${index}`);
  const [, param = "", message = ""] = refusalOf(many, KNOWN) ?? [];
  expect([param.length, message.length < 1_000]).toEqual([65, true]);
  expect(message).toMatch(/, 4995 more$/);
});

test("a query has at most 300 parameters, repeated ones included (G213)", () => {
  expect(() => refuseManyParameters(`/offers?${"a=1&".repeat(299)}a=1`)).not.toThrow();
  expect(() => refuseManyParameters(`/offers?${"a=1&".repeat(300)}a=1`)).toThrow(
    "query: expected at most 300 parameters",
  );
});

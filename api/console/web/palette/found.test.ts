import { expect, test } from "vitest";
import { Problem } from "../client/problem.ts";
import { daysAgo, ifThere, kindOf } from "./found.ts";

test.each([
  ["0123456789abcdef0123456789ABCDEF", "click"],
  ["3f2504e0-4f89-41d3-9a0c-0305e82c3301", "conversion"],
  ["ORDER-1007", "id"],
  ["EAIaIQobChMI", "id"],
  ["ab", "words"],
  ["Anna Media", "words"],
  ["0123456789abcdef0123456789abcde", "id"],
])("%s is looked up as %s", (text, kind) => {
  expect(kindOf(text)).toBe(kind);
});

const refused = (status: number): Promise<never> =>
  Promise.reject(
    new Problem("no", {
      status,
      code: "",
      fields: {},
      requestId: "",
      retryAfterSeconds: undefined,
    }),
  );

test("a text that names no record finds nothing, and a failure is told", async () => {
  expect(await ifThere(refused(404))).toEqual([]);
  expect(await ifThere(refused(400))).toEqual([]);
  await expect(ifThere(refused(503))).rejects.toThrow("no");
});

test("days ago are counted in whole days", () => {
  expect(daysAgo(89, Date.UTC(2026, 10, 25, 23, 59))).toBe("2026-08-28");
});

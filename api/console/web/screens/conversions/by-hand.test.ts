import { expect, test } from "vitest";
import { judgedOf, saleFaults } from "./by-hand.ts";

test("what the service would do is read from its answer to a test", () => {
  const details = {
    reason: "",
    event: "default",
    payout: "4.0000",
    revenue: "5.0000",
    currency: "USD",
  };
  expect(
    judgedOf({ ok: true, status: "rejected", reason: "cap_exceeded", test: true, details }),
  ).toEqual({
    status: "rejected",
    reason: "cap exceeded",
    payout: "4.0000",
    revenue: "5.0000",
    currency: "USD",
    isDuplicate: false,
    isUpdate: false,
    error: "",
  });
});

test("a refusal is never read as something that would be recorded", () => {
  expect(judgedOf({ ok: false, error: "unknown click" }).error).toBe("unknown click");
  expect(judgedOf({ ok: false }).error).not.toBe("");
});

test.each([
  ["", "", {}],
  ["12.50", "EUR", {}],
  ["12,50", "EUR", { sale_amount: "Enter an amount such as 12.50" }],
  ["1", "Euro", { currency: "Enter a currency such as EUR" }],
])("an amount %j in %j has the faults %j", (sale_amount, currency, faults) => {
  expect(saleFaults({ sale_amount, currency })).toEqual(faults);
});

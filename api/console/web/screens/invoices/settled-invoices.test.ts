import { expect, test } from "vitest";
import { settledBy } from "./settled-invoices.ts";

const INVOICES = [
  { id: 1, number: "I-1", open: "10.0000" },
  { id: 2, number: "I-2", open: "20.5000" },
];

test.each([
  ["15", [], ["10.0000", "5.0000"], "0.0000"],
  ["15", [2], ["0.0000", "15.0000"], "0.0000"],
  ["40.25", [], ["10.0000", "20.5000"], "9.7500"],
  ["", [1], ["0.0000", "0.0000"], "0.0000"],
  ["abc", [], ["0.0000", "0.0000"], "0.0000"],
])("%s with the invoices %j named covers %j (N58)", (amount, named, covered, rest) => {
  const settled = settledBy(INVOICES, amount, named);
  expect(settled.invoices.map((one) => one.covered)).toEqual(covered);
  expect(settled.rest).toBe(rest);
});

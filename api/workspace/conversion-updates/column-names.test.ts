import { expect, test } from "vitest";
import { fieldOfColumn, statusOfWord } from "./column-names.ts";

test.each([
  ["Transaction ID", "txid"],
  ["order_id", "txid"],
  ["Order No.", "txid"],
  ["Sale Amount", "sale_amount"],
  ["amount", "sale_amount"],
  ["Commission", "revenue"],
  ["Affiliate commission", "payout"],
  ["payout", "payout"],
  ["clickref", "click_id"],
  ["Decline reason", "reason"],
  ["Country", ""],
  ["", ""],
])("the column %j stands for %j (N115, N129)", (column, field) => {
  expect(fieldOfColumn(column)).toBe(field);
});

test.each([
  ["Confirmed", "approved"],
  ["ACCEPTED", "approved"],
  ["cancelled", "rejected"],
  ["Canceled", "rejected"],
  ["void", "rejected"],
  ["On hold", "pending"],
  ["open", "pending"],
  ["perhaps", undefined],
])("the status %j stands for %j (N129)", (word, status) => {
  expect(statusOfWord(word)).toBe(status);
});

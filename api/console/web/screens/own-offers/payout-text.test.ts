import { expect, test } from "vitest";
import { payoutText } from "./payout-text.ts";

test.each([
  [{ payout_type: "cps", payout: "5.0000" }, "5% of the sale"],
  [{ payout_type: "cps", payout: "12.5000" }, "12.5% of the sale"],
  [{ payout_type: "cps", payout: "10" }, "10% of the sale"],
  [{ payout_type: "cpa", payout: "12.0000" }, "$12.00 per action"],
  [{ payout_type: "cpc", payout: "0.0125" }, "$0.0125 per click"],
  [{}, ""],
] as const)("a payout %j says what it is paid for: %j (#39)", (payout, words) => {
  expect(payoutText(payout, "USD")).toBe(words);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import type { ConversionState } from "./conversions.ts";
import { decideChange } from "./decide-change.ts";
import { CONVERSION_STATUSES } from "./report-params.ts";

const row: ConversionState = {
  id: "1",
  workspace_id: 1,
  offer_id: 1,
  advertiser_id: 1,
  event_code: "default",
  status: "approved",
  status_reason: "",
  is_duplicate: false,
  revenue: 200_000n,
  payout: 100_000n,
  sale_amount: 1_000_000n,
  currency: "USD",
  payout_type: "cps",
  payout_rate: 100_000n,
  payout_given: false,
  revenue_type: "rps",
  revenue_rate: 200_000n,
  revenue_given: false,
  adv_txid: null,
  conv_ts: "2026-01-01T00:00:00.000Z",
  version: 1,
};
const none = { saleAmount: undefined, revenue: undefined, payout: undefined };

test.each([
  ["approved", "rejected", {}, "rejected postback_reversal"],
  ["approved", "pending", {}, "pending postback_update"],
  ["pending", "approved", {}, "approved postback_update"],
  ["rejected", "approved", {}, "approved postback_update"],
  ["pending", "approved", { saleAmount: 1n }, "approved postback_update"],
  ["approved", undefined, { saleAmount: 1n }, "approved postback_reversal"],
  ["approved", "approved", { payout: 1n }, "approved postback_reversal"],
  ["approved", "approved", {}, undefined],
  ["approved", undefined, { saleAmount: 1_000_000n }, undefined],
  ["rejected", "rejected", {}, undefined],
] as const)("7.6 G108 G109: %s, told %s with %o, becomes %s", (from, status, money, expected) => {
  const change = decideChange({ ...row, status: from }, { status, money: { ...none, ...money } });
  expect(change === undefined ? undefined : `${change.status} ${change.status_reason}`).toBe(
    expected,
  );
});

test("G108: money is computed by the terms of the conversion, and what was given once stays given", () => {
  const half = { status: undefined, money: { ...none, saleAmount: 500_000n } };
  expect(decideChange(row, half)).toMatchObject({ payout: 50_000n, revenue: 100_000n });
  expect(decideChange({ ...row, payout_given: true, payout: 7n }, half)).toMatchObject({
    payout: 7n,
    revenue: 100_000n,
  });
});

test("T06 P19: a duplicate never changes, and a change told twice changes nothing the second time", () => {
  const amount = fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined });
  const asked = fc.record({
    status: fc.option(fc.constantFrom(...CONVERSION_STATUSES), { nil: undefined }),
    money: fc.record({ saleAmount: amount, revenue: amount, payout: amount }),
  });
  fc.assert(
    fc.property(asked, fc.constantFrom(...CONVERSION_STATUSES), (told, status) => {
      expect(decideChange({ ...row, status, is_duplicate: true }, told)).toBeUndefined();
      const before = { ...row, status };
      const after = { ...before, ...decideChange(before, told) };
      expect(decideChange(after, told)).toBeUndefined();
    }),
  );
});

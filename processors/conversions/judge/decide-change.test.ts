import fc from "fast-check";
import { expect, test } from "vitest";
import { CONVERSION_STATUSES } from "../../../schemas/events/conversion-words.ts";
import type { ConversionState } from "../record/conversions.ts";
import { decideChange, mayBeRepeat } from "./decide-change.ts";

const row: ConversionState = {
  id: "1",
  workspace_id: 1,
  offer_id: 1,
  affiliate_id: 1,
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
  method: "s2s",
  conv_ts: "2026-01-01T00:00:00.000Z",
  version: 1,
  is_held: false,
  report_fingerprint: "\\x01",
  change_fingerprint: null,
  asked_status: null,
};
const none = { saleAmount: undefined, revenue: undefined, payout: undefined };
const byOrder = { namesConversion: false, isPartnerBlocked: false };

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
] as const)(
  "7.6 G108 G109: %s, reported as %s with %o, becomes %s",
  (from, status, money, expected) => {
    const requested = { status, money: { ...none, ...money }, ...byOrder };
    const change = decideChange({ ...row, status: from }, requested);
    expect(change === undefined ? undefined : `${change.status} ${change.status_reason}`).toBe(
      expected,
    );
  },
);

test("a report of `pending` ends a hold without approving; other reports leave the hold (G230)", () => {
  const held = { ...row, status: "pending", status_reason: "hold", is_held: true } as const;
  const change = (status: "pending" | undefined, saleAmount?: bigint): unknown =>
    decideChange(held, { status, money: { ...none, saleAmount }, ...byOrder });
  expect(change("pending")).toMatchObject({
    status: "pending",
    status_reason: "postback_update",
    hold_until: null,
  });
  expect(change("pending", 1n)).toMatchObject({ sale_amount: 1n, hold_until: null });
  expect(change(undefined, 1n)).not.toHaveProperty("hold_until");
  expect(change(undefined)).toBeUndefined();
});

test("no report approves a conversion of a blocked partner; staff decide (G233)", () => {
  const approve = { status: "approved", money: none, ...byOrder, isPartnerBlocked: true } as const;
  const seen = (from: Partial<ConversionState>): unknown => {
    const change = decideChange({ ...row, ...from }, approve);
    return change === undefined ? undefined : [change.status, change.status_reason];
  };
  const waits = ["pending", "rule:partner_blocked"];
  expect(seen({ status: "rejected", status_reason: "cap_exceeded" })).toEqual(waits);
  expect(seen({ status: "pending", status_reason: "" })).toEqual(waits);
  expect(seen({ status: "pending", status_reason: "hold", is_held: true })).toEqual(waits);
  expect(seen({ status: "pending", status_reason: "rule:partner_blocked" })).toBeUndefined();
  expect(seen({ status: "approved" })).toBeUndefined();
  const reject = { ...approve, status: "rejected" } as const;
  expect(decideChange({ ...row, status: "pending" }, reject)?.status).toBe("rejected");
  const named = { ...approve, namesConversion: true };
  expect(decideChange({ ...row, status: "pending" }, named)?.status).toBe("pending");
});

test("money is computed by the terms of the conversion, and an amount that was given stays as given (G108)", () => {
  const half = { status: undefined, money: { ...none, saleAmount: 500_000n }, ...byOrder };
  expect(decideChange(row, half)).toMatchObject({ payout: 50_000n, revenue: 100_000n });
  expect(decideChange({ ...row, payout_given: true, payout: 7n }, half)).toMatchObject({
    payout: 7n,
    revenue: 100_000n,
  });
});

test("a duplicate never changes, and a change reported twice changes nothing the second time (T06, P19)", () => {
  const amount = fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }), { nil: undefined });
  const requested = fc.record({
    status: fc.option(fc.constantFrom(...CONVERSION_STATUSES), { nil: undefined }),
    money: fc.record({ saleAmount: amount, revenue: amount, payout: amount }),
    namesConversion: fc.boolean(),
    isPartnerBlocked: fc.boolean(),
  });
  fc.assert(
    fc.property(requested, fc.constantFrom(...CONVERSION_STATUSES), (reported, status) => {
      expect(decideChange({ ...row, status, is_duplicate: true }, reported)).toBeUndefined();
      const before = { ...row, status };
      const after = { ...before, ...decideChange(before, reported) };
      expect(decideChange(after, reported)).toBeUndefined();
    }),
  );
});

test("a repeated `approved` ends no hold, unless it names the conversion or is new (#1, G198)", () => {
  const held = { ...row, status: "pending", status_reason: "hold", is_held: true } as const;
  const said = { ...held, asked_status: "approved" } as const;
  const more = { ...none, saleAmount: 500_000n };
  const approved = { status: "approved", money: more, ...byOrder } as const;
  expect(decideChange(said, approved)).toMatchObject({ status: "pending", payout: 50_000n });
  expect(decideChange(said, { ...approved, money: none })).toBeUndefined();
  expect(decideChange(said, { ...approved, namesConversion: true })?.status).toBe("approved");
  expect(decideChange(held, approved)?.status).toBe("approved");
  expect(decideChange({ ...said, asked_status: "pending" }, approved)?.status).toBe("approved");
});

test("a possible repeat does not approve a stopped row that is older than fingerprints (#1, G198)", () => {
  const old = {
    ...row,
    status: "rejected",
    status_reason: "cap_exceeded",
    report_fingerprint: null,
  } as const;
  const approved = { status: "approved", money: none, ...byOrder } as const;
  expect(mayBeRepeat(old, approved)).toBe(true);
  expect(mayBeRepeat(old, { ...approved, namesConversion: true })).toBe(false);
  expect(mayBeRepeat(old, { ...approved, status: "pending" })).toBe(false);
  expect(mayBeRepeat(old, { ...approved, money: { ...none, payout: 1n } })).toBe(false);
  for (const known of [
    { report_fingerprint: "\\x01" },
    { method: "api" },
    { version: 2 },
    { status_reason: "postback" },
    { status: "pending", status_reason: "" },
  ] as const)
    expect(mayBeRepeat({ ...old, ...known }, approved)).toBe(false);
});

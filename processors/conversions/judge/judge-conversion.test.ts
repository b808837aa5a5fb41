import { expect, test } from "vitest";
import { Affiliate, type ConversionRule, Offer } from "../../../schemas/catalog/records.ts";
import { ClickRecord } from "../../../schemas/events/click-record.ts";
import { type Case, judgeConversion } from "./judge-conversion.ts";

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const DAY_MS = 86_400_000;

const offer = Offer.parse({
  id: 1,
  workspace_id: 1,
  advertiser_id: 1,
  code: "O",
  name: "O",
  status: "active",
  visibility: "public",
  destination_url: "https://shop.example/",
  fallback_url: "",
  allowed_domains: [],
  currency: "USD",
  revenue_type: "rpa",
  revenue: "0.0000",
  payout_type: "cpa",
  payout: "0.0000",
  caps: {},
  targeting: {},
  conversion_method: "any",
  unique_per_click: true,
  txid_scope: "offer",
  attribution_days: 30,
  default_status: "approved",
  hold_days: "0",
  min_seconds_to_conversion: 0,
  duplicate_click_seconds: 0,
  unique_click_hours: 24,
  fraud_checks: null,
  terms: null,
  fail_route_offer_id: null,
  pass_parameters: "none",
});
const affiliate = Affiliate.parse({
  id: 1,
  workspace_id: 1,
  code: "P",
  name: "P",
  status: "active",
  throttle_percent: 0,
  hold_days: null,
});

function aClick(fields: Partial<ClickRecord> = {}): ClickRecord {
  return ClickRecord.parse({
    click_id: "0".repeat(32),
    ts: NOW_MS - 60_000,
    link_type: "affiliate",
    status: "redirect",
    ...fields,
  });
}

function aCase(fields: Partial<Case> = {}): Case {
  return {
    conversionId: "01a1fc65-173e-7eb1-b69e-769fbe5c2c41",
    convTsMs: NOW_MS,
    nowMs: NOW_MS,
    click: aClick(),
    offer,
    affiliate,
    eventCode: "default",
    method: "s2s",
    saleAmount: 0n,
    rules: [],
    fraudChecks: {},
    isClickIpCrowded: false,
    isIpAllowed: true,
    givenStatus: undefined,
    ...fields,
  };
}

function judge(fields: Partial<Case> = {}): string {
  const { status, reason } = judgeConversion(aCase(fields));
  return `${status} ${reason}`.trim();
}

function aRule(name: string, action: ConversionRule["action"]): ConversionRule {
  return { id: 1, workspace_id: 1, name, position: 0, status: "active", action, conditions: {} };
}

test("a click with a time an hour ahead is neither too fast nor too soon for a rule (#11, G103)", () => {
  const soon = { ...aRule("soon", "reject"), conditions: { max_seconds_since_click: 60 } };
  const facts = { offer: { ...offer, min_seconds_to_conversion: 30 }, rules: [soon] };
  expect(judge({ ...facts, click: aClick({ ts: NOW_MS + 3_600_000 }) })).toBe("approved");
  // Clocks of hosts differ by seconds, and staff may enter a conversion with an earlier time.
  expect(judge({ ...facts, click: aClick({ ts: NOW_MS + 5_000 }) })).toBe("rejected too_fast");
  expect(judge({ ...facts, convTsMs: NOW_MS - 3_600_000 })).toBe("rejected too_fast");
});

test("checks run in a fixed order and the first that fails decides (G96, T58)", () => {
  const everything: Partial<Case> = {
    click: aClick({
      status: "blocked",
      ts: NOW_MS - 31 * DAY_MS,
      is_bot: true,
      is_datacenter: true,
    }),
    offer: { ...offer, default_status: "pending", hold_days: "2", min_seconds_to_conversion: 60 },
    affiliate: { ...affiliate, status: "blocked", throttle_percent: 100 },
    fraudChecks: { bot: true, datacenter: true },
    isIpAllowed: false,
    isClickIpCrowded: true,
    rules: [aRule("review", "hold"), aRule("no", "reject")],
    givenStatus: "rejected",
  };
  const order: [string, Partial<Case>][] = [
    ["rejected click_blocked", {}],
    ["rejected outside_window", { click: aClick({ ts: NOW_MS - 31 * DAY_MS, is_bot: true }) }],
    ["rejected too_fast", { click: aClick({ ts: NOW_MS - 59_999, is_bot: true }) }],
    ["rejected ip_not_allowed", { click: aClick({ is_bot: true, is_datacenter: true }) }],
    ["rejected fraud:bot", { isIpAllowed: true }],
    ["rejected fraud:datacenter", { fraudChecks: { datacenter: true } }],
    ["rejected fraud:duplicate_click_ip", { fraudChecks: {} }],
    ["rejected rule:no", { isClickIpCrowded: false }],
    ["rejected postback", { rules: [aRule("review", "hold")] }],
    ["pending rule:partner_blocked", { givenStatus: "approved" }],
    ["pending rule:review", { affiliate: { ...affiliate, throttle_percent: 100 } }],
    ["pending throttled", { rules: [] }],
    ["pending hold", { affiliate }],
    ["approved", { affiliate: { ...affiliate, hold_days: "0" } }],
    ["pending", { givenStatus: undefined }],
  ];
  let facts = everything;
  for (const [verdict, less] of order) {
    facts = { ...facts, ...less };
    expect(judge(facts)).toBe(verdict);
  }
});

test("the window ends after its last millisecond (LIFE-017, G104)", () => {
  expect(judge({ click: aClick({ ts: NOW_MS - 30 * DAY_MS }) })).toBe("approved");
  expect(judge({ click: aClick({ ts: NOW_MS - 30 * DAY_MS - 1 }) })).toBe(
    "rejected outside_window",
  );
});

test("without a minimum time no conversion is too fast, also when the click's host runs ahead (G103)", () => {
  expect(judge({ click: aClick({ ts: NOW_MS + 50 }) })).toBe("approved");
});

test("without a click the checks of window, speed and click fraud are skipped (G90)", () => {
  expect(judge({ click: undefined, fraudChecks: { missing_ua: true } })).toBe("approved");
});

test("the partner's hold wins over the offer's, and may be a fraction of a day (G98)", () => {
  const held = judgeConversion(
    aCase({
      offer: { ...offer, hold_days: "7" },
      affiliate: { ...affiliate, hold_days: "0.5" },
    }),
  );
  expect(held).toEqual({
    status: "pending",
    reason: "hold",
    holdUntilMs: NOW_MS + DAY_MS / 2,
    countsAddress: true,
    countsAgainstCaps: true,
  });
});

test("conversions of a blocked or rejected partner wait for the staff, all others do not (G233)", () => {
  const verdicts = (["active", "pending", "blocked", "rejected"] as const).map((status) =>
    judge({ affiliate: { ...affiliate, status }, givenStatus: "approved" }),
  );
  const waits = "pending rule:partner_blocked";
  expect(verdicts).toEqual(["approved", "approved", waits, waits]);
  const blocked = { ...affiliate, status: "blocked" } as const;
  expect(judge({ affiliate: blocked, givenStatus: "rejected" })).toBe("rejected postback");
  expect(judge({ affiliate: blocked, offer: { ...offer, hold_days: "1" } })).toBe(waits);
});

test("a hold keeps only what would be approved: `pending` has no end (LIFE-002, LIFE-004, G230)", () => {
  const reviewed = { ...offer, default_status: "pending", hold_days: "2" } as const;
  const held = { ...offer, hold_days: "2" };
  const endOf = (fields: Partial<Case>): number | undefined =>
    judgeConversion(aCase(fields)).holdUntilMs;
  expect(judge({ offer: reviewed })).toBe("pending");
  expect(endOf({ offer: reviewed })).toBeUndefined();
  expect(judge({ offer: held, givenStatus: "pending" })).toBe("pending");
  expect(endOf({ offer: held, givenStatus: "pending" })).toBeUndefined();
  // An advertiser who approves overrides the default, and then the hold applies (G97).
  expect(judge({ offer: reviewed, givenStatus: "approved" })).toBe("pending hold");
  expect(judge({ offer: held })).toBe("pending hold");
});

test("a rejection before the tables counts nowhere, one by a rule counts addresses (G96, G101)", () => {
  const asked = (fields: Partial<Case>): unknown => {
    const { countsAddress, countsAgainstCaps } = judgeConversion(aCase(fields));
    return [countsAddress, countsAgainstCaps];
  };
  expect(asked({ isIpAllowed: false })).toEqual([false, false]);
  expect(asked({ rules: [aRule("no", "reject")] })).toEqual([true, false]);
  expect(asked({ givenStatus: "rejected" })).toEqual([true, true]);
});

test("a throttle sends its share of a partner's conversions to review (LIFE-014, G99)", () => {
  const throttled = Array.from({ length: 2_000 }, (_, i) =>
    judge({ conversionId: `conversion ${i}`, affiliate: { ...affiliate, throttle_percent: 30 } }),
  ).filter((verdict) => verdict === "pending throttled");
  expect(throttled.length).toBeGreaterThan(500);
  expect(throttled.length).toBeLessThan(700);
});

import { expect, test } from "vitest";
import { readReport } from "../report/report-params.ts";
import { reportFingerprint } from "./report-fingerprint.ts";

const CLICK = "0123456789abcdef0123456789abcdef";
const ORDER = { click_id: CLICK, txid: "T", amount: "10", status: "approved" };

function fingerprint(params: Record<string, string>, secret = "secret"): string {
  const read = readReport({ endpoint: "pb", params, cookieClickId: "" });
  if (read.kind === "malformed") throw new Error(read.error);
  return reportFingerprint(secret, read.report);
}

test("equal reports have one fingerprint, however they are written (#1, G198)", () => {
  const same = fingerprint(ORDER);
  expect(same).toMatch(/^\\x[0-9a-f]{32}$/);
  for (const params of [
    { status: "approved", sale_amount: "10.00", order_id: " T ", tid: CLICK.toUpperCase() },
    { ...ORDER, event: "default", token: "any", test: "1", js: "1" },
    { ...ORDER, event: "", phone: "", adv1: "", idempotency_key: "k", unread: "x" },
  ])
    expect(fingerprint(params)).toBe(same);
});

test("a report with any other parameter, or of another installation, has another fingerprint (#1)", () => {
  const one = [
    ORDER,
    ...Object.entries({
      click_id: CLICK.replaceAll("0", "1"),
      txid: "U",
      amount: "10.0001",
      status: "pending",
      event: "sale",
      revenue: "1",
      payout: "1",
      currency: "EUR",
      offer_id: "1",
      aff_id: "1",
      coupon: "C",
      conversion_id: "0b7e9c5e-0f2b-4c0c-9d2e-0a1b2c3d4e5f",
      first_click_id: CLICK,
      email: "a@example.com",
      phone: "123",
      ip: "192.0.2.1",
      adv1: "v",
      adv2: "v",
    }).map(([name, value]) => ({ ...ORDER, [name]: value })),
  ].map((params) => fingerprint(params));
  const all = [...one, fingerprint({ ...ORDER, revenue: "10" }), fingerprint(ORDER, "other")];
  expect(new Set(all).size).toBe(all.length);
});

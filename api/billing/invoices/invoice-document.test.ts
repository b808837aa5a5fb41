import { expect, test } from "vitest";
import type { Invoice } from "../../../schemas/billing/read-invoices.ts";
import { documentOf } from "./invoice-document.ts";

const PARTY = { name: "N", address: "", country: "", vat_id: "", iban: "", bic: "" };
const PARTIES = { issuer: PARTY, recipient: PARTY, language: "en" };
const INVOICE: Invoice = {
  id: 1,
  kind: "invoice",
  number: null,
  status: "draft",
  is_overdue: false,
  advertiser_id: 1,
  advertiser_name: "Shop",
  currency: "EUR",
  terms: "net30",
  period_from: "2026-10-31T23:00:00.000Z",
  period_to: "2026-11-30T23:00:00.000Z",
  timezone: "Europe/Berlin",
  carried_in: "-0.5000",
  total: "100.0049",
  payable: "100.0000",
  tax: { mode: "domestic", rate: "19.0000", text: "" },
  tax_amount: "19.0000",
  gross: "119.0000",
  carried_out: "0.0049",
  paid: "0.0000",
  open: "0.0000",
  due_on: "2026-12-31",
  credits_id: null,
  credited_by_id: null,
  reason: "",
  created_at: "2026-12-01T02:00:00.000Z",
  approved_at: null,
  voided_at: null,
  lines: [
    {
      line: 1,
      kind: "conversions",
      offer_id: 1,
      offer_name: "Shoes",
      event_code: "sale",
      count: 7,
      amount: "100.5049",
    },
  ],
  payments: [],
};

const given = { number: "I-2026-0001", parties: PARTIES, issuedMs: Date.UTC(2026, 11, 1, 23, 30) };

test("a document has days of the workspace, whole coins, and what was and is carried (N50, N58)", () => {
  expect(documentOf(INVOICE, given)).toMatchObject({
    title: "Invoice",
    issued_on: "2026-12-02",
    period: { from: "2026-11-01", to: "2026-11-30" },
    lines: [{ text: "Conversions: Shoes (sale)", count: 7, amount: "100.5049" }],
    totals: [
      { text: "Carried from the last invoice", amount: "-0.50" },
      { text: "Total", amount: "100.0049" },
      { text: "Carried to the next invoice", amount: "-0.0049" },
      { text: "Net amount", amount: "100.00" },
      { text: "Tax 19 %", amount: "19.00" },
      { text: "Amount due", amount: "119.00" },
    ],
    notes: ["Please pay until 2026-12-31 and name I-2026-0001."],
  });
});

test("a rate keeps the digits that it has, and an amount of yen has no decimals (N6)", () => {
  const tax = { mode: "domestic", rate: "7.5000", text: "" };
  const yen = { ...INVOICE, currency: "JPY", tax, gross: "1840.0000" };
  const { totals } = documentOf(yen, given);
  expect(totals.map(({ text }) => text)).toContain("Tax 7.5 %");
  expect(totals.at(-1)).toEqual({ text: "Amount due", amount: "1840", is_main: true });
  const ten = documentOf({ ...yen, tax: { ...tax, rate: "10.0000" } }, given);
  expect(ten.totals.map(({ text }) => text)).toContain("Tax 10 %");
});

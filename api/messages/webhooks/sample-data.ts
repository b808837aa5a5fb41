import { EVENT } from "../../fields/event.ts";
import { sampleValues } from "../../fields/field.ts";
import { OFFER } from "../../fields/offer.ts";
import type { WebhookEvent } from "../../records/webhook-events.ts";

type Fields = Readonly<Record<string, unknown>>;
type Sample = { readonly data: Fields; readonly previous?: Fields };

const CLICKED_AT = "2026-01-31T09:58:12.000Z";
const CONVERTED_AT = "2026-01-31T10:00:00.000Z";

const CONVERSION = {
  id: "00000000-0000-4000-8000-000000000001",
  click_id: "00000000000000000000000000000001",
  offer_id: 1,
  affiliate_id: 1,
  advertiser_id: 1,
  event: "default",
  status: "approved",
  status_reason: "",
  revenue: "15.0000",
  payout: "10.0000",
  sale_amount: "100.0000",
  currency: "USD",
  adv_txid: "ORDER-1",
  method: "s2s",
  conv_ts: CONVERTED_AT,
  click_ts: CLICKED_AT,
  sub1: "",
  sub2: "",
  sub3: "",
  sub4: "",
  sub5: "",
  source_id: "",
  gclid: "",
  country: "DE",
  device_type: "mobile",
};

const TERMS = { revenue_type: "rpa", revenue: "15.0000", payout_type: "cpa", payout: "10.0000" };

const SAMPLE_OFFER = {
  id: 1,
  code: "SAMPLE",
  ...sampleValues(OFFER),
  events: [
    {
      id: 1,
      code: "default",
      ...sampleValues(EVENT),
      name: "Default",
      ...TERMS,
      is_default: true,
    },
  ],
  created_at: CLICKED_AT,
  updated_at: CONVERTED_AT,
};

const AFFILIATE = {
  id: 1,
  code: "SAMPLE",
  name: "Sample partner",
  status: "active",
  email: "partner@partner.example",
  company: "",
  country: "DE",
  created_at: CLICKED_AT,
};

const ACCESS = {
  affiliate_id: 1,
  affiliate_code: "SAMPLE",
  affiliate_name: "Sample partner",
  status: "approved",
  note: "",
  requested_at: CLICKED_AT,
  decided_at: CONVERTED_AT,
  offer_id: 1,
  offer_code: "SAMPLE",
  offer_name: "Sample offer",
};

const INVOICE = {
  id: 1,
  kind: "invoice",
  number: null,
  status: "draft",
  is_overdue: false,
  advertiser_id: 1,
  advertiser_name: "Sample advertiser",
  currency: "USD",
  terms: "net30",
  period_from: "2026-01-01T00:00:00.000Z",
  period_to: "2026-02-01T00:00:00.000Z",
  timezone: "UTC",
  carried_in: "0.0000",
  total: "15.0000",
  payable: "15.0000",
  tax: { mode: "domestic", rate: "20.0000", text: "" },
  tax_amount: "3.0000",
  gross: "18.0000",
  carried_out: "0.0000",
  paid: "0.0000",
  open: "0.0000",
  due_on: "2026-03-03",
  credits_id: null,
  credited_by_id: null,
  reason: "",
  created_at: "2026-02-01T02:00:00.000Z",
  approved_at: null,
  voided_at: null,
  lines: [
    {
      line: 1,
      kind: "conversions",
      offer_id: 1,
      offer_name: "Sample offer",
      event_code: "default",
      count: 1,
      amount: "15.0000",
    },
  ],
  payments: [],
};

const STATEMENT = {
  id: 1,
  number: "S-2025-0001",
  affiliate_id: 1,
  affiliate_name: "Sample partner",
  currency: "USD",
  period: { from: "2025-01-01T00:00:00.000Z", to: "2025-02-01T00:00:00.000Z", tz: "UTC" },
  status: "approved",
  terms: "net30",
  carried_in: "0.0000",
  total: "10.0000",
  min_payout: "0.0000",
  payable: "10.0000",
  tax: { mode: "none", rate: "0.0000", amount: "0.0000", text: "" },
  gross: "10.0000",
  carried_out: "0.0000",
  due_on: "2025-03-02",
  payout_line_id: null,
  files: {
    html: "/statements/1/files/html",
    pdf: "/statements/1/files/pdf",
    csv: "/statements/1/files/csv",
  },
  created_at: "2025-02-01T02:00:00.000Z",
  approved_at: "2025-02-01T09:00:00.000Z",
  paid_at: null,
  voided_at: null,
  lines: [
    {
      line: 1,
      kind: "conversions",
      offer_id: 1,
      offer_name: "Sample offer",
      event_code: "default",
      of_statement_id: null,
      of_statement_number: null,
      count: 1,
      amount: "10.0000",
    },
  ],
};

const PAYOUT = {
  id: 1,
  run_id: 1,
  reference: "P1L1",
  affiliate_id: 1,
  affiliate_code: "SAMPLE",
  affiliate_name: "Sample partner",
  method: "wire",
  currency: "USD",
  amount: "1840.5500",
  statement_ids: [1],
  status: "paid",
  external_id: "TRANSFER-1",
  fee: null,
  error: "",
  settled_at: CONVERTED_AT,
};

const SAMPLES: Readonly<Record<WebhookEvent, Sample>> = {
  "conversion.created": { data: CONVERSION },
  "conversion.updated": {
    data: CONVERSION,
    previous: { status: "pending", revenue: "15.0000", payout: "10.0000", sale_amount: "100.0000" },
  },
  "offer.created": { data: SAMPLE_OFFER },
  "offer.updated": { data: SAMPLE_OFFER, previous: { status: "paused" } },
  "affiliate.signup": { data: { ...AFFILIATE, status: "pending" } },
  "affiliate.updated": { data: AFFILIATE, previous: { status: "pending" } },
  "access.requested": { data: { ...ACCESS, status: "pending", decided_at: null } },
  "access.decided": { data: ACCESS },
  "statement.created": {
    data: { ...STATEMENT, status: "draft", number: null, files: null, approved_at: null },
  },
  "statement.approved": { data: STATEMENT },
  "invoice.created": { data: INVOICE },
  "invoice.paid": {
    data: {
      ...INVOICE,
      number: "I-2026-0001",
      status: "paid",
      paid: "18.0000",
      approved_at: "2026-02-02T09:00:00.000Z",
      payments: [
        {
          payment_id: 1,
          external_id: "TRANSFER-1",
          received_at: "2026-02-20T00:00:00.000Z",
          amount: "18.0000",
        },
      ],
    },
  },
  "affiliate.payment_method_changed": {
    data: {
      affiliate_id: 1,
      affiliate_code: "SAMPLE",
      affiliate_name: "Sample partner",
      payment_method: "wire",
      changed_by: "partner",
      changed_at: CONVERTED_AT,
    },
  },
  "payout.paid": { data: PAYOUT },
  "payout.failed": {
    data: { ...PAYOUT, status: "failed", external_id: null, error: "account closed" },
  },
};

/** The sample of a document: every field that the event has, with invented data. */
export function sampleOf(event: WebhookEvent): Sample {
  return SAMPLES[event];
}

import { z } from "zod";
import { shownSchema } from "../../access/visibility.ts";
import { shownCurrency, shownDay, shownMoney, shownTime } from "../../fields/body-fields.ts";

export const INVOICE_STATUSES = [
  "draft",
  "sent",
  "part_paid",
  "paid",
  "carried",
  "credited",
  "void",
] as const;

const row = {
  id: z.int(),
  kind: z.enum(["invoice", "credit_note"]),
  number: z.string().nullable().meta({ description: "Given at approval, without a gap" }),
  status: z.enum(INVOICE_STATUSES),
  is_overdue: z.boolean().meta({ description: "Open after its due day in the workspace" }),
  advertiser_id: z.int(),
  advertiser_name: z.string(),
  currency: shownCurrency,
  terms: z.string(),
  period_from: shownTime,
  period_to: shownTime.meta({ description: "The first instant after the period" }),
  timezone: z.string(),
  carried_in: shownMoney.meta({ description: "What the invoice before left" }),
  total: shownMoney.meta({ description: "`carried_in` and all lines" }),
  payable: shownMoney.meta({ description: "The total in whole coins, without tax" }),
  tax: z.strictObject({ mode: z.string(), rate: z.string(), text: z.string() }),
  tax_amount: shownMoney,
  gross: shownMoney.meta({ description: "`payable` and tax; negative in a credit note" }),
  carried_out: shownMoney.meta({ description: "What goes on the next invoice" }),
  paid: shownMoney.meta({ description: "What payments cover" }),
  open: shownMoney.meta({ description: "What is still to be paid" }),
  due_on: shownDay,
  credits_id: z.int().nullable().meta({ description: "The invoice that a credit note takes back" }),
  credited_by_id: z.int().nullable().meta({ description: "The credit note of the invoice" }),
  reason: z.string().meta({ description: "Of a credit note" }),
  created_at: shownTime,
  approved_at: shownTime.nullable(),
  voided_at: shownTime.nullable(),
};

export const ShownInvoice = shownSchema("invoice", row).meta({ id: "Invoice" });

const Line = z.strictObject({
  line: z.int(),
  kind: z.string().meta({
    description:
      "`conversions`, `clicks`, `reversal` of conversions, a kind of adjustment, or `credit` in a credit note",
  }),
  offer_id: z.int().nullable(),
  offer_name: z.string().nullable(),
  event_code: z.string().nullable(),
  count: z.int(),
  amount: shownMoney,
});

const Covering = z.strictObject({
  payment_id: z.int(),
  external_id: z.string(),
  received_at: shownTime,
  amount: shownMoney,
});

const ShownInvoiceDetail = shownSchema("invoice", {
  ...row,
  lines: z.array(Line),
  payments: z.array(Covering).meta({ description: "What covers the invoice" }),
}).meta({ id: "InvoiceDetail" });

/** What would be invoiced. A preview has no id and no number. */
export const ShownClosedInvoice = shownSchema("invoice", {
  ...row,
  id: z.int().nullable(),
  lines: z.array(Line),
  payments: z.array(Covering),
}).meta({ id: "ClosedInvoice" });

export const oneInvoice = z.object({ data: ShownInvoiceDetail });

export const ShownInvoiceEntry = shownSchema("invoice_entry", {
  seq: z.int().meta({ description: "Place in the account of the advertiser" }),
  posted_at: shownTime,
  conversion_id: z.string().nullable(),
  adv_txid: z.string().nullable(),
  conv_ts: shownTime.nullable(),
  offer_id: z.int().nullable(),
  event_code: z.string().nullable(),
  count: z.int(),
  amount: shownMoney,
}).meta({ id: "InvoiceEntry" });

export const ShownPayment = shownSchema("advertiser_payment", {
  id: z.int(),
  advertiser_id: z.int(),
  advertiser_name: z.string(),
  currency: shownCurrency,
  amount: shownMoney,
  applied: shownMoney.meta({ description: "What covers invoices" }),
  unapplied: shownMoney.meta({ description: "Credit for later invoices; 0 once reversed" }),
  external_id: z.string(),
  received_at: shownTime,
  note: z.string(),
  invoice_ids: z.array(z.int()).meta({ description: "Invoices that the payer named" }),
  reversed_at: shownTime.nullable(),
  reversal_reason: z.string().nullable(),
  created_at: shownTime,
  allocations: z.array(
    z.strictObject({ invoice_id: z.int(), number: z.string(), amount: shownMoney }),
  ),
}).meta({ id: "AdvertiserPayment" });

export const ShownTax = shownSchema("tax_record", {
  advertiser_id: z.int(),
  country: z.string(),
  vat_id: z.string(),
  mode: z.enum(["none", "domestic", "reverse_charge", "exempt"]),
  rate: shownMoney.meta({
    description: "Percent; 0 unless the mode is `domestic`",
    examples: ["19.0000"],
  }),
  updated_at: shownTime.nullable().meta({ description: "null: nothing was set" }),
}).meta({ id: "AdvertiserTax" });

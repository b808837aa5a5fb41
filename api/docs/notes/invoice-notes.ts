import type { Notes } from "./notes.ts";

const OF_INVOICE: Notes = {
  kind: "`invoice`, or `credit_note` for what takes an invoice back",
  status:
    "`draft` until it is approved, then `sent`, `part_paid`, `paid`. `carried`: nothing to pay. `credited`: taken back by a credit note. `void`: taken back as a draft",
  advertiser_name: "Name of the advertiser",
  period_from: "The first instant of the period",
  tax: "How tax is added to `payable`",
  tax_amount: "Tax on `payable`, in whole coins",
  due_on: "Day on which it is to be paid",
  voided_at: "When the draft was taken back; null otherwise",
  lines: "What the period consists of",
  payments: "What covers the invoice",
};

export const INVOICE_NOTES: Notes = {
  ...Object.fromEntries(
    ["Invoice", "InvoiceDetail", "ClosedInvoice"].flatMap((owner) =>
      Object.entries(OF_INVOICE).map(([field, note]): [string, string] => [
        `${owner}.${field}`,
        note,
      ]),
    ),
  ),
  "lines.line": "Its number",
  "InvoiceEntry.count": "Conversions or clicks; negative where they are taken back",
  "AdvertiserPayment.advertiser_name": "Name of the advertiser",
  "payments.payment_id": "The payment",
  "payments.external_id": "What the bank or service calls the payment",
  "payments.received_at": "When the money arrived",
  "AdvertiserPayment.external_id": "What the bank or service calls the payment",
  "AdvertiserPayment.received_at": "When the money arrived",
  reversed_at: "When it was taken back; null otherwise",
  reversal_reason: "Why it was taken back; null otherwise",
  allocations: "What it covers",
  "allocations.invoice_id": "The invoice",
  "allocations.number": "Number of the invoice",
  "AdvertiserTax.vat_id": "VAT number of the advertiser; empty without one",
};

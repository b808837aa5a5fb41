import type { Notes } from "./notes.ts";

const OF_INVOICE: Notes = {
  kind: "`invoice`, or `credit_note`, which takes an invoice back",
  status:
    "`draft` until it is approved, then `sent`, `part_paid` and `paid`. `carried`: nothing is to be paid yet. `credited`: taken back by a credit note. `void`: a draft that was taken back",
  advertiser_name: "Name of the advertiser",
  period_from: "First instant of the period",
  tax: "What is added to `payable`",
  tax_amount: "In whole coins, rounded once",
  due_on: "Day on which it is to be paid",
  voided_at: "When the draft was taken back; null otherwise",
  lines: "What the period consists of",
  "lines.line": "Its number",
  payments: "What covers the invoice",
  "payments.payment_id": "The payment",
  "payments.external_id": "What the bank calls the payment",
  "payments.received_at": "When the money came",
};

export const INVOICE_NOTES: Notes = {
  ...Object.fromEntries(
    Object.entries(OF_INVOICE).flatMap(([field, note]) =>
      ["Invoice", "InvoiceDetail", "ClosedInvoice"].map((owner) => [`${owner}.${field}`, note]),
    ),
  ),
  "InvoiceEntry.count": "Conversions or clicks; negative where they are taken back",
  "AdvertiserPayment.advertiser_name": "Name of the advertiser",
  "AdvertiserPayment.external_id": "What the bank calls the payment",
  "AdvertiserPayment.received_at": "When the money came",
  "AdvertiserPayment.reversed_at": "When it was taken back; null if it was not",
  "AdvertiserPayment.reversal_reason": "Why it was taken back; null if it was not",
  "AdvertiserPayment.allocations": "The invoices that it covers, and how much of each",
  "AdvertiserPayment.allocations.invoice_id": "The invoice",
  "AdvertiserPayment.allocations.number": "Number of the invoice",
  "AdvertiserTax.vat_id": "VAT number of the advertiser; empty without one",
  "setAdvertiserTax.vat_id": "VAT number of the advertiser; empty without one",
  "closeInvoices.data.is_complete": "Whether every account was closed; if not, call it again",
  "closeInvoices.data.invoices": "What was made, in the order of the accounts",
  "createPayment.external_id": "What the bank calls the payment; each is taken once",
  "createPayment.received_at": "When the money came",
  "createPayment.invoice_ids": "Invoices that it covers first; left out: the oldest ones",
  "listPayments.?external_id": "What the bank calls the payment",
};

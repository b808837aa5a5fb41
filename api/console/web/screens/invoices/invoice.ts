import type { components } from "../../../../../.build/console/openapi.ts";

export type Invoice = components["schemas"]["Invoice"];
export type InvoiceDetail = components["schemas"]["InvoiceDetail"];
export type ClosedInvoice = components["schemas"]["ClosedInvoice"];
export type Payment = components["schemas"]["AdvertiserPayment"];
export type InvoiceLine = InvoiceDetail["lines"][number];

/** Keys of answers that change with every write about invoices and payments. */
export const MONEY_NAMES = [
  "invoices",
  "invoice",
  "invoice-lines",
  "payments",
  "open-invoices",
  "balances",
  "ledger",
];

/** What an invoice is called before it has a number, too. */
export function invoiceTitle({
  kind,
  number,
  status,
}: Pick<Invoice, "kind" | "number" | "status">): string {
  if (number !== null) return `${kind === "credit_note" ? "Credit note" : "Invoice"} ${number}`;
  if (status === "carried") return "Carried amount";
  return status === "void" ? "Void draft" : "Draft invoice";
}

const LINE_WORDS: Readonly<Record<string, string>> = {
  conversions: "Conversions",
  reversal: "Conversions taken back",
  clicks: "Clicks",
  bonus: "Bonus",
  deduction: "Deduction",
  correction: "Correction",
  bounty: "Bounty",
  opening: "Opening balance",
  write_off: "Written off",
  credit: "Credit",
};

export function lineWords({
  kind,
  event_code: event,
}: Pick<InvoiceLine, "kind" | "event_code">): string {
  const words = LINE_WORDS[kind] ?? kind;
  return event === null || event === "default" ? words : `${words}: ${event}`;
}

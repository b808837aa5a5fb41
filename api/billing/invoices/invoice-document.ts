import type { Invoice, InvoiceLine } from "../../../schemas/billing/read-invoices.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import { formatDay } from "../../../schemas/time/calendar.ts";
import { DAY_MS, zoneOf } from "../../../schemas/time/zone.ts";
import {
  type BillingDocument,
  type DocumentParty,
  type DocumentTotal,
  printedAmount,
} from "../documents/billing-document.ts";

/** Both sides as they were at approval. */
export type Parties = {
  readonly issuer: DocumentParty;
  readonly recipient: DocumentParty;
  readonly language: string;
};

/** What the approval froze. */
export type Approval = {
  readonly number: string;
  readonly parties: Parties;
  readonly issuedMs: number;
};

type Words = Readonly<
  Record<
    | "invoice"
    | "creditNote"
    | "carriedIn"
    | "total"
    | "carriedOut"
    | "net"
    | "tax"
    | "credited"
    | "due"
    | "please",
    string
  >
> & { readonly kinds: Readonly<Record<string, string>> };

const ENGLISH: Words = {
  invoice: "Invoice",
  creditNote: "Credit note",
  carriedIn: "Carried from the last invoice",
  total: "Total",
  carriedOut: "Carried to the next invoice",
  net: "Net amount",
  tax: "Tax",
  credited: "Amount credited",
  due: "Amount due",
  please: "Please pay until {due} and name {number}.",
  kinds: {
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
  },
};
const GERMAN: Words = {
  invoice: "Rechnung",
  creditNote: "Gutschrift",
  carriedIn: "Übertrag der letzten Rechnung",
  total: "Summe",
  carriedOut: "Übertrag auf die nächste Rechnung",
  net: "Nettobetrag",
  tax: "Steuer",
  credited: "Gutgeschrieben",
  due: "Zu zahlen",
  please: "Bitte zahlen Sie bis zum {due} und nennen Sie {number}.",
  kinds: {
    conversions: "Conversions",
    reversal: "Stornierte Conversions",
    clicks: "Klicks",
    bonus: "Bonus",
    deduction: "Abzug",
    correction: "Korrektur",
    bounty: "Prämie",
    opening: "Anfangsbestand",
    write_off: "Ausbuchung",
    credit: "Gutschrift",
  },
};

/** The document of an invoice or a credit note that has its number. */
export function documentOf(
  invoice: Invoice,
  { number, parties, issuedMs }: Approval,
): BillingDocument {
  const { timezone, due_on: dueOn, tax } = invoice;
  const { issuer, recipient, language } = parties;
  const words = language === "de" ? GERMAN : ENGLISH;
  const isCredit = invoice.kind === "credit_note";
  const please = words.please.replace("{due}", dueOn).replace("{number}", number);
  return {
    language,
    title: isCredit ? words.creditNote : words.invoice,
    number,
    issued_on: dayIn(timezone, issuedMs),
    due_on: dueOn,
    currency: invoice.currency,
    issuer,
    recipient,
    period: {
      from: dayIn(timezone, Date.parse(invoice.period_from)),
      // The last day of the period: its end belongs to the next one.
      to: dayIn(timezone, Date.parse(invoice.period_to) - 1),
      tz: timezone,
    },
    lines: invoice.lines.map((line) => ({
      text: textOf(words, line, invoice.reason),
      count: line.count,
      amount: printedAmount(line.amount, invoice.currency),
    })),
    totals: totalsOf(words, invoice),
    notes: [tax.text, isCredit ? "" : please].filter((note) => note !== ""),
  };
}

function totalsOf(words: Words, invoice: Invoice): DocumentTotal[] {
  const total = (text: string, amount: string, is_main = false): DocumentTotal => ({
    text,
    amount: printedAmount(amount, invoice.currency),
    is_main,
  });
  const unless0 = (text: string, amount: string): DocumentTotal[] =>
    amountOf(amount) === 0n ? [] : [total(text, amount)];
  const isCredit = invoice.kind === "credit_note";
  return [
    ...unless0(words.carriedIn, invoice.carried_in),
    total(words.total, invoice.total),
    ...unless0(words.carriedOut, negated(invoice.carried_out)),
    total(words.net, invoice.payable),
    total(taxTitle(words, invoice.tax), invoice.tax_amount),
    total(isCredit ? words.credited : words.due, invoice.gross, true),
  ];
}

function negated(amount: string): string {
  return amount.startsWith("-") ? amount.slice(1) : `-${amount}`;
}

function textOf(
  { kinds }: Words,
  { kind, offer_name, event_code }: InvoiceLine,
  reason: string,
): string {
  const about = kind === "credit" ? reason : (offer_name ?? "");
  const event = event_code === null || event_code === "default" ? "" : ` (${event_code})`;
  return [kinds[kind] ?? kind, `${about}${event}`].filter((part) => part !== "").join(": ");
}

function taxTitle({ tax }: Words, { mode, rate }: Invoice["tax"]): string {
  return mode === "domestic" ? `${tax} ${rate.replace(/\.?0+$/, "")} %` : tax;
}

function dayIn(timezone: string, atMs: number): string {
  return formatDay(zoneOf(timezone)?.dayAt(atMs) ?? Math.floor(atMs / DAY_MS));
}

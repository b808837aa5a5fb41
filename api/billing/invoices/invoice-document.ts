import type { Invoice, InvoiceLine } from "../../../schemas/billing/read-invoices.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import { formatCoins } from "../../../schemas/money/minor-units.ts";
import { formatDay } from "../../../schemas/time/calendar.ts";
import { zoneOf } from "../../../schemas/time/zone.ts";

/** One side of a document, as it was at approval. */
export type Party = {
  readonly name: string;
  readonly address: string;
  readonly country: string;
  readonly vat_id: string;
  /** Where to pay; empty for who pays. */
  readonly iban: string;
  readonly bic: string;
};

export type Parties = {
  readonly issuer: Party;
  readonly recipient: Party;
  readonly language: string;
};

/** What a document says, for every format alike. Amounts are written as they are printed. */
export type BillingDocument = {
  readonly title: string;
  readonly number: string;
  readonly parties: Parties;
  readonly issued_on: string;
  readonly period: { readonly from: string; readonly to: string };
  readonly currency: string;
  readonly lines: readonly {
    readonly text: string;
    readonly count: number | null;
    readonly amount: string;
  }[];
  readonly totals: readonly { readonly text: string; readonly amount: string }[];
  readonly tax_text: string;
  /** Sentences under the totals. */
  readonly notes: readonly string[];
  readonly language: string;
};

const DAY_MS = 86_400_000;

const LINE_TEXTS: Readonly<Record<string, string>> = {
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

/** The document of an invoice or a credit note that has its number. */
export function documentOf(
  invoice: Invoice,
  { number, parties, issuedMs }: { number: string; parties: Parties; issuedMs: number },
): BillingDocument {
  const isCredit = invoice.kind === "credit_note";
  const { currency, timezone } = invoice;
  const money = (amount: string): string => formatCoins(amountOf(amount), currency);
  return {
    title: isCredit ? "Credit note" : "Invoice",
    number,
    parties,
    issued_on: dayIn(timezone, issuedMs),
    period: {
      from: dayIn(timezone, Date.parse(invoice.period_from)),
      // The last day of the period: its end belongs to the next one.
      to: dayIn(timezone, Date.parse(invoice.period_to) - 1),
    },
    currency,
    lines: [
      ...lineOfCarried("Carried from the last invoice", invoice.carried_in),
      ...invoice.lines.map((line) => ({
        text: textOf(line, invoice.reason),
        count: line.count === 0 ? null : line.count,
        amount: line.amount,
      })),
    ],
    totals: [
      { text: "Total", amount: invoice.total },
      ...lineOfCarried("Carried to the next invoice", negated(invoice.carried_out)),
      { text: "Net amount", amount: money(invoice.payable) },
      { text: taxTitle(invoice.tax), amount: money(invoice.tax_amount) },
      { text: isCredit ? "Amount credited" : "Amount due", amount: money(invoice.gross) },
    ],
    tax_text: invoice.tax.text,
    notes: isCredit ? [] : [`Please pay until ${invoice.due_on} and name ${number}.`],
    language: parties.language,
  };
}

function lineOfCarried(text: string, amount: string) {
  return amountOf(amount) === 0n ? [] : [{ text, count: null, amount }];
}

function negated(amount: string): string {
  return amount.startsWith("-") ? amount.slice(1) : `-${amount}`;
}

function textOf({ kind, offer_name, event_code }: InvoiceLine, reason: string): string {
  const about = kind === "credit" ? reason : (offer_name ?? "");
  const event = event_code === null || event_code === "default" ? "" : ` (${event_code})`;
  return [LINE_TEXTS[kind] ?? kind, `${about}${event}`].filter((part) => part !== "").join(": ");
}

function taxTitle({ mode, rate }: Invoice["tax"]): string {
  return mode === "domestic" ? `Tax ${rate.replace(/\.?0+$/, "")} %` : "Tax";
}

function dayIn(timezone: string, atMs: number): string {
  return formatDay(zoneOf(timezone)?.dayAt(atMs) ?? Math.floor(atMs / DAY_MS));
}

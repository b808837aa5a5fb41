import type { StatementLine, StatementRow } from "../../../schemas/billing/statements.ts";
import { amountOf } from "../../../schemas/money/amount.ts";
import { formatDay } from "../../../schemas/time/calendar.ts";
import { type Zone, zoneOf } from "../../../schemas/time/zone.ts";
import {
  type BillingDocument,
  type DocumentTotal,
  printedAmount,
} from "../documents/billing-document.ts";

type Words = Readonly<
  Record<
    "title" | "carriedIn" | "total" | "payable" | "tax" | "gross" | "carriedOut" | "of",
    string
  >
> & {
  readonly kinds: Readonly<Record<string, string>>;
};

const ENGLISH: Words = {
  title: "Statement",
  carriedIn: "Carried in",
  total: "Total",
  payable: "Payable",
  tax: "Tax",
  gross: "To be paid",
  carriedOut: "Carried to the next statement",
  of: "of",
  kinds: {
    conversions: "Conversions",
    clicks: "Clicks",
    bonus: "Bonus",
    deduction: "Deduction",
    correction: "Correction",
    bounty: "Bounty",
    opening: "Opening balance",
    write_off: "Write-off",
    clawback: "Clawback",
    reversal: "Reversal",
  },
};
const GERMAN: Words = {
  title: "Abrechnung",
  carriedIn: "Übertrag",
  total: "Summe",
  payable: "Auszahlbar",
  tax: "Steuer",
  gross: "Zu zahlen",
  carriedOut: "Übertrag auf die nächste Abrechnung",
  of: "aus",
  kinds: {
    conversions: "Conversions",
    clicks: "Klicks",
    bonus: "Bonus",
    deduction: "Abzug",
    correction: "Korrektur",
    bounty: "Prämie",
    opening: "Anfangsbestand",
    write_off: "Ausbuchung",
    clawback: "Rückbuchung",
    reversal: "Storno",
  },
};

/** An approved statement as it is printed, from what was frozen at its approval. */
export function statementDocument(
  row: StatementRow,
  lines: readonly StatementLine[],
): BillingDocument {
  const zone = zoneOf(row.timezone);
  const language = row.parties?.language ?? "en";
  const words = language === "de" ? GERMAN : ENGLISH;
  return {
    language,
    title: words.title,
    number: row.number ?? "",
    issued_on: dayOf(zone, row.approved_at ?? row.created_at),
    due_on: row.due_on,
    currency: row.currency,
    issuer: row.parties?.issuer ?? {},
    recipient: row.parties?.recipient ?? {},
    period: {
      from: dayOf(zone, row.period_from),
      to: dayOf(zone, row.period_to, -1),
      tz: row.timezone,
    },
    lines: lines.map((line) => ({
      text: textOf(words, line),
      count: line.count,
      amount: printedAmount(line.amount, row.currency),
    })),
    totals: totalsOf(words, row),
    notes: row.tax.text === "" ? [] : [row.tax.text],
  };
}

function textOf({ kinds, of }: Words, line: StatementLine): string {
  const kind = kinds[line.kind] ?? line.kind;
  const number = line.of_statement_number;
  const named = number === null ? kind : `${kind} ${of} ${number}`;
  const what = [line.offer_name, line.event_code ?? ""].filter((part) => part !== "");
  return [named, ...what].join(" · ");
}

function totalsOf(words: Words, row: StatementRow): DocumentTotal[] {
  const total = (text: string, amount: string, is_main = false): DocumentTotal => ({
    text,
    amount: printedAmount(amount, row.currency),
    is_main,
  });
  const rate = row.tax.rate.replace(/\.?0+$/, "");
  return [
    ...(amountOf(row.carried_in) === 0n ? [] : [total(words.carriedIn, row.carried_in)]),
    total(words.total, row.total),
    total(words.payable, row.payable),
    ...(amountOf(row.tax_amount) === 0n ? [] : [total(`${words.tax} ${rate} %`, row.tax_amount)]),
    total(words.gross, row.gross, true),
    ...(amountOf(row.carried_out) === 0n ? [] : [total(words.carriedOut, row.carried_out)]),
  ];
}

function dayOf(zone: Zone | undefined, iso: string, shiftMs = 0): string {
  const atMs = Date.parse(iso) + shiftMs;
  return zone === undefined ? iso.slice(0, 10) : formatDay(zone.dayAt(atMs));
}

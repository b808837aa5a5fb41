import { amountOf } from "../../../../schemas/money/amount.ts";
import { formatCoins } from "../../../../schemas/money/minor-units.ts";
import { csvLine, numberCell, textCell } from "../../../http/csv.ts";
import type { PaymentDetails } from "../details/payment-details.ts";
import type { ReadyLine } from "./ready-lines.ts";
import { WISE_2026, type WiseSource } from "./wise-2026.ts";

const NOTE_MAX = 100;
const COLUMNS = [
  "reference",
  "affiliate_code",
  "name",
  "method",
  "currency",
  "amount",
  "details",
  "statements",
];

/** Every line with what it needs, for people and other programs (N54). */
export function plainCsv(lines: readonly ReadyLine[]): string {
  const rows = lines.map((line) =>
    csvLine([
      textCell(line.reference),
      textCell(line.affiliate_code),
      textCell(line.affiliate_name),
      textCell(line.method),
      textCell(line.currency),
      numberCell(coinsOf(line)),
      textCell(detailsText(line.details)),
      textCell(line.statements.join(" ")),
    ]),
  );
  return csvLine(COLUMNS) + rows.join("");
}

/** For PayPal's payouts by file: no header; account, amount, currency, reference, note, wallet (N54). */
export function paypalCsv(lines: readonly ReadyLine[]): string {
  return lines
    .map((line) =>
      csvLine([
        textCell(line.details.account ?? ""),
        numberCell(coinsOf(line)),
        textCell(line.currency),
        textCell(line.reference),
        textCell(noteOf(line).slice(0, NOTE_MAX)),
        "PAYPAL",
      ]),
    )
    .join("");
}

/** For a batch of Wise, by the columns of its template (N54). */
export function wiseCsv(lines: readonly ReadyLine[]): string {
  const titles = csvLine(WISE_2026.map(({ title }) => title));
  const rows = lines.map((line) => csvLine(WISE_2026.map(({ from }) => wiseCell(line, from))));
  return titles + rows.join("");
}

function wiseCell(line: ReadyLine, from: WiseSource): string {
  switch (from) {
    case "holder":
      return textCell(line.details.holder ?? "");
    case "amount":
      return numberCell(coinsOf(line));
    case "currency":
      return textCell(line.currency);
    case "reference":
      return textCell(line.reference);
    case "iban":
      return textCell(line.details.iban ?? "");
    case "bic":
      return textCell(line.details.bic ?? "");
    case "account_number":
      return textCell(line.details.account_number ?? "");
    case "bank_code":
      return textCell(line.details.bank_code ?? "");
    case "country":
      return textCell(countryOf(line.details));
  }
}

/** Country of the bank: as entered, else the first two letters of the IBAN. */
function countryOf({ iban, bank_country: country }: PaymentDetails): string {
  return country ?? iban?.slice(0, 2) ?? "";
}

function coinsOf({ amount, currency }: ReadyLine): string {
  return formatCoins(amountOf(amount), currency);
}

function noteOf({ reference, statements }: ReadyLine): string {
  return `${reference} ${statements.join(" ")}`;
}

function detailsText(details: PaymentDetails): string {
  return Object.entries(details)
    .flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [`${name}: ${typeof value === "string" ? value : addressText(value)}`];
    })
    .join("; ");
}

function addressText(address: Exclude<PaymentDetails["address"], string | undefined>): string {
  const { street, postcode, town, country } = address;
  return [street, `${postcode} ${town}`.trim(), country].filter((part) => part !== "").join(", ");
}

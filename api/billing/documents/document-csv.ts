import { csvLine, numberCell, textCell } from "../../http/csv.ts";
import type { BillingDocument } from "./billing-document.ts";

/** Lines and totals of a document as they are printed, one record each. */
export function documentCsv({ number, currency, lines, totals }: BillingDocument): string {
  const row = (text: string, count: string, amount: string): string =>
    csvLine([textCell(number), textCell(text), count, numberCell(amount), currency]);
  return [
    csvLine(["number", "text", "count", "amount", "currency"]),
    ...lines.map(({ text, count, amount }) => row(text, numberCell(count), amount)),
    ...totals.map(({ text, amount }) => row(text, "", amount)),
  ].join("");
}

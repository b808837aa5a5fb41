import { groupIn, rowsIn, textIn } from "../../records/form-draft.ts";

export type RateRow = { readonly date: string; readonly currency: string; readonly rate: string };

/** Rows of the form as the API takes them. The API judges each row. */
export function asRates(rows: unknown): RateRow[] {
  return rowsIn(rows)
    .map(groupIn)
    .map(({ date, currency, rate }) => ({
      date: textIn(date).trim(),
      currency: textIn(currency).trim().toUpperCase(),
      rate: textIn(rate).trim(),
    }));
}

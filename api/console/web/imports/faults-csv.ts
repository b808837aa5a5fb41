import { spreadsheetText } from "../../../../schemas/names/spreadsheet-text.ts";

type Fault = { readonly row: number; readonly field: string; readonly message: string };

/** The faults of a file as CSV. No text of the file becomes a formula. */
export function faultsCsv(faults: readonly Fault[]): string {
  const lines = faults.map(({ row, field, message }) => [String(row), field, message]);
  return [["row", "field", "message"], ...lines]
    .map((cells) => cells.map(cellOf).join(","))
    .join("\r\n")
    .concat("\r\n");
}

function cellOf(text: string): string {
  return `"${spreadsheetText(text).replaceAll('"', '""')}"`;
}

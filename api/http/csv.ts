import { spreadsheetText } from "../../schemas/names/spreadsheet-text.ts";

const LINE_END = "\r\n";
const QUOTED = /[",\r\n]/;

/** A text cell. Text that a spreadsheet would run as a formula is escaped, so that it is shown as written. */
export function textCell(text: string): string {
  return quoted(spreadsheetText(text));
}

/** A number cell, which may begin with a minus sign; empty for null. */
export function numberCell(value: string | number | null): string {
  return value === null ? "" : String(value);
}

/** One record by RFC 4180, including its line end. */
export function csvLine(cells: readonly string[]): string {
  return cells.join(",") + LINE_END;
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

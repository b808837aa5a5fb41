const LINE_END = "\r\n";
/** A spreadsheet takes a cell that begins like this for a formula (G77). */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/** A cell of text: what would be run as a formula is shown as it is written. */
export function textCell(text: string): string {
  return quoted(FORMULA.test(text) ? `'${text}` : text);
}

/** A cell of a number, which may begin with a minus sign; empty for null. */
export function numberCell(value: string | number | null): string {
  return value === null ? "" : String(value);
}

/** One record by RFC 4180, its end included. */
export function csvLine(cells: readonly string[]): string {
  return cells.join(",") + LINE_END;
}

function quoted(text: string): string {
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet treats a cell that begins with one of these as a formula (G77). */
const FORMULA = /^[=+\-@\t\r]/;

/** Text that a spreadsheet would run as a formula is escaped, so that it is shown as written. */
export function spreadsheetText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

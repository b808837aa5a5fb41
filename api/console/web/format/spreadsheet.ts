/** A cell that a spreadsheet would run as a formula begins with an apostrophe instead, as in the CSV of the API (G73). */
export function spreadsheetCell(text: string): string {
  const guarded = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return guarded.replace(/[\t\r\n]+/g, " ");
}

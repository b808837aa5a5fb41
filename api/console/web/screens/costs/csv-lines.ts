const SHOWN_MAX = 200;

/**
 * The line of a row of CSV. The first row follows the header, and empty lines are no rows. Undefined if the text has quotes, because a
 * quoted cell may have line breaks.
 */
export function lineOf(
  csv: string,
  row: number,
): { readonly number: number; readonly text: string } | undefined {
  if (csv.includes('"')) return undefined;
  const filled = csv
    .split(/\r\n|\n|\r/)
    .map((text, index) => ({ number: index + 1, text: text.slice(0, SHOWN_MAX) }))
    .filter(({ text }) => text !== "");
  return filled[row];
}

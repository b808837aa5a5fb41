import { PERSONAL_COLUMNS, type PersonalColumn } from "../../../schemas/erasure/personal-fields.ts";
import { textAt, valueAt } from "../rows/read-line.ts";

const DIGIT_0 = 48;
const DIGIT_9 = 57;
export const ALL_PERSONAL: readonly PersonalColumn[] = Object.keys(PERSONAL_COLUMNS).filter(
  (name): name is PersonalColumn => name in PERSONAL_COLUMNS,
);

/** A line, as latin1, with these columns emptied. Never longer than `line`. */
export function withoutColumns(line: string, columns: readonly PersonalColumn[]): string {
  let clean = line;
  for (const column of columns) {
    const text = textAt(clean, column);
    if (text !== undefined) {
      clean = clean.slice(0, text.start) + clean.slice(text.end);
      continue;
    }
    const start = valueAt(clean, `${column}":`);
    if (start < 0) continue;
    let end = start;
    while (clean.charCodeAt(end) >= DIGIT_0 && clean.charCodeAt(end) <= DIGIT_9) end += 1;
    if (end > start) clean = `${clean.slice(0, start)}0${clean.slice(end)}`;
  }
  return clean;
}

/** A cleaned line filled up to its former length: JSON allows spaces before the last brace. */
export function padded(line: string, length: number): string {
  return `${line.slice(0, -1)}${" ".repeat(length - line.length)}}`;
}

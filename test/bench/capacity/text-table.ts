/** A table of texts; each row has a cell for each column. */
export type Table = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** The widest line of what `npm run bench -- capacity` prints. */
export const COLUMNS_MAX = 100;

/** Columns of numbers are aligned to the right, two spaces between columns. */
export function renderTable({ head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const isNumeric = head.map((_, column) =>
    rows.every((row) => /^[\d.,%×-]*$/.test(row[column] ?? "")),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          isNumeric[column] === true
            ? cell.padStart(widths[column] ?? 0)
            : cell.padEnd(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Three significant digits at most, with separators: 0.053, 4.2, 57.8, 1,260. */
export function amountText(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  if (value >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(value >= 1 ? 3 : 2)));
}

/** Breaks a text at its spaces into lines of at most `COLUMNS_MAX`, the later ones indented. */
export function wrapped(text: string, indent = "  "): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > COLUMNS_MAX) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join("\n");
}

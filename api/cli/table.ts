const WIDTH = 80;
const GAP = "  ";
/** Columns are never cut below this width. */
const WIDTH_MIN = 8;
/** A terminal would execute control characters in a name. */
const CONTROL = /\p{Cc}/gu;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => unknown;
};

/**
 * Rows under their titles, within the 80 columns of a terminal; the widest columns are cut first. Returns `empty` if there are no
 * rows.
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => columns.map(({ value }) => cellOf(value(row))));
  const lines = [columns.map(({ title }) => title), ...cells];
  const widths = fitted(
    columns.map((_, index) =>
      Math.max(...lines.map((line) => Array.from(line[index] ?? "").length)),
    ),
  );
  return lines
    .map((line) =>
      line
        .map((cell, index) => padded(cell, widths[index] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

function fitted(wanted: readonly number[]): number[] {
  const widths = [...wanted];
  const room = WIDTH - GAP.length * (widths.length - 1);
  for (;;) {
    const excess = widths.reduce((sum, width) => sum + width, 0) - room;
    const widest = Math.max(...widths);
    if (excess <= 0 || widest <= WIDTH_MIN) return widths;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

function padded(cell: string, width: number): string {
  const characters = Array.from(cell);
  if (characters.length > width) return `${characters.slice(0, width - 1).join("")}…`;
  return cell + " ".repeat(width - characters.length);
}

/** Times are shown to the minute, in UTC. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return TIME.test(text) ? text.slice(0, 16).replace("T", " ") : text.replace(CONTROL, "?");
}

import { Readable } from "node:stream";
import type { OperationResult } from "../operation/operation.ts";
import { csvLine, numberCell, textCell } from "./csv.ts";

/** Rows of a CSV, as of a report (LIM-014). */
const ROWS_MAX = 200_000;
/** Rows that are in memory at a time. */
const PAGE_ROWS = 1_000;

type Shown = Readonly<Record<string, unknown>>;

/** A list as CSV: one page after the other, in the order of the list. */
export type ListCsv<Row> = {
  /** Fields of a row that the caller sees: the header. */
  readonly fields: readonly string[];
  /** Fields with money or another number as text. All other text is protected from being run as a formula. */
  readonly numbers: ReadonlySet<string>;
  /** Reads the page after a row; undefined for the first. */
  readonly read: (after: Row | undefined, rowsMax: number) => Promise<readonly Row[]>;
  readonly show: (rows: readonly Row[]) => Promise<readonly Shown[]> | readonly Shown[];
};

/** Never has more than a page in memory. The first piece comes after the first page, so an earlier fault can still set the status. */
export async function* listCsv<Row>(list: ListCsv<Row>): AsyncGenerator<string> {
  const { fields, read, show } = list;
  let after: Row | undefined;
  for (let rows = 0; rows < ROWS_MAX; rows += PAGE_ROWS) {
    const page = await read(after, Math.min(PAGE_ROWS, ROWS_MAX - rows));
    const lines = (await show(page)).map((row) => csvLine(cellsOf(row, list)));
    yield (rows === 0 ? csvLine(fields) : "") + lines.join("");
    after = page.at(-1);
    if (page.length < PAGE_ROWS || after === undefined) return;
  }
}

const BYTE_ORDER_MARK = "\uFEFF";

type CsvFile = {
  readonly name: string;
  /** `1` begins the file with a byte order mark. */
  readonly bom: string | undefined;
};

/** The answer with a CSV. Waits for the first piece, so that an earlier failure is thrown here and gets a status of its own. */
export async function csvAnswer(
  pieces: AsyncGenerator<string>,
  { name, bom }: CsvFile,
): Promise<OperationResult> {
  const first = await pieces.next();
  async function* all(): AsyncGenerator<string> {
    try {
      if (bom === "1") yield BYTE_ORDER_MARK;
      if (first.done !== true) yield first.value;
      yield* pieces;
    } finally {
      // The reader may leave before it has read anything.
      await pieces.return(undefined);
    }
  }
  return {
    stream: Readable.from(all(), { objectMode: false }),
    contentType: "text/csv; charset=utf-8",
    headers: { "content-disposition": `attachment; filename="${name}"` },
  };
}

function cellsOf<Row>(row: Shown, { fields, numbers }: ListCsv<Row>): string[] {
  return fields.map((name) => {
    const value = row[name];
    if (value === null || value === undefined) return "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    if (typeof value !== "string") return textCell(JSON.stringify(value));
    return numbers.has(name) ? numberCell(value) : textCell(value);
  });
}

import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { z } from "zod";
import {
  JsonExcessError,
  parseSentJson,
  RECORD_BOUNDS,
} from "../../../../schemas/json/sent-json.ts";
import { withoutEmptyEnd } from "../../../http/csv-records.ts";
import { type FieldKind, valueOf } from "../../../http/field-values.ts";
import { shownName } from "../../../http/unknown-parameters.ts";
import { FileFault } from "./file-fault.ts";
import type { FileRow } from "./file-row.ts";
import type { ImportPlan } from "./import-plan.ts";
import { JsonTexts } from "./json-texts.ts";
import type { FileFormat } from "./source-file.ts";
import { textChunks } from "./text-chunks.ts";

/** What reading a file needs of the plan. */
type ReadFile = Pick<ImportPlan, "file" | "fieldKinds" | "words"> & {
  /** The field that a column stands for, or "" for a column that is not read. By default a column has the name of its field. */
  readonly fieldOf?: (column: string) => string;
};

/** Far above any known need. Bounds the memory for one entry per row to a few hundred MB. */
const ROWS_MAX = 1_000_000;
const RECORD_CHARACTERS_MAX = 1024 ** 2;
const UNKNOWN_NAMED_MAX = 5;
/** Ten times as long as the names of all columns. Reading the cells of a longer row would take long (G213). */
const HEADER_CHARACTERS_MAX = 20_000;
const DELIMITERS = [",", ";", "\t"];
/** With its line end. */
const SEPARATOR_LINE = /^sep=([^\r\n"])(?:\r\n|\r|\n)/i;
const Parsed = z.object({
  record: z.array(z.string()),
  info: z.object({ records: z.int(), empty_lines: z.int() }),
});

/** The format that the ending of a file's name stands for. Undefined for any other ending. */
export function formatOfName(name: string): FileFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  if (ending === "csv") return "csv";
  return ["json", "jsonl", "ndjson"].includes(ending) ? "json" : undefined;
}

/** The character that an option names, which may be the word `tab`. Undefined if it cannot separate cells. */
export function delimiterOf(option: string): string | undefined {
  const character = option === "tab" ? "\t" : option;
  return character.length === 1 && !/["\r\n]/.test(character) ? character : undefined;
}

/**
 * Reads the records of a file one by one in bounded memory. Cells become values by the kinds of their columns; an empty cell means
 * the field is left out.
 * @throws {FileFault} for a file of another format or with unknown columns.
 */
export async function* fileRows(plan: ReadFile): AsyncGenerator<FileRow> {
  const { file } = plan;
  let count = 0;
  for await (const row of file.format === "csv" ? csvRows(plan) : jsonRows(plan)) {
    count += 1;
    if (count > ROWS_MAX) {
      throw new FileFault(
        `${file.name} has more than ${ROWS_MAX} rows: split it into several files.`,
      );
    }
    yield row;
  }
}

async function* csvRows(plan: ReadFile): AsyncGenerator<FileRow> {
  const { file, fieldKinds } = plan;
  let columns: readonly string[] | undefined;
  for await (const { number, cells } of csvRecords(plan)) {
    if (columns === undefined) columns = readHeader(plan, cells);
    else if (cells.some((cell) => cell !== "")) yield csvRow(number, columns, cells, fieldKinds);
  }
  if (columns === undefined)
    throw new FileFault(`${file.name} is empty: the first row must have the names of the columns.`);
}

/** Records with their numbers. An empty line is no record, but has a number, as a first line such as `sep=;` has. */
async function* csvRecords(plan: ReadFile): AsyncGenerator<{ number: number; cells: string[] }> {
  const { file } = plan;
  const chunks = textChunks(file);
  const beginning = await chunks.next();
  const first = beginning.done === true ? "" : beginning.value;
  const [line = "", separator] = SEPARATOR_LINE.exec(first) ?? [];
  const linesBefore = separator === undefined ? 0 : 1;
  const delimiter = separator ?? file.delimiter;
  const source = Readable.from(
    csvChunks(plan, { delimiter, first: first.slice(line.length), chunks }),
  );
  const parser = parse({
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    info: true,
    max_record_size: RECORD_CHARACTERS_MAX,
  });
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const parsed of parser) {
      const { record, info } = Parsed.parse(parsed);
      yield { number: linesBefore + info.records + info.empty_lines, cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileFault(`${file.name} is not CSV: ${error.message}.`, error);
  } finally {
    source.destroy();
    parser.destroy();
    await chunks.return(undefined);
  }
}

/** Checks the header for another delimiter first. Otherwise the parser would fail on quotes, with a misleading message. */
async function* csvChunks(
  { file, words }: ReadFile,
  {
    delimiter,
    first,
    chunks,
  }: {
    readonly delimiter: string;
    /** The text before `chunks`. */
    readonly first: string;
    readonly chunks: AsyncIterable<string>;
  },
): AsyncGenerator<string> {
  const [header = ""] = first.split(/[\r\n]/, 1);
  if (header.length > HEADER_CHARACTERS_MAX)
    throw new FileFault(
      `The first row of ${file.name} has more than ${HEADER_CHARACTERS_MAX} characters. It must have the names of the columns.`,
    );
  const other = DELIMITERS.find((one) => header.includes(one) && !header.includes(delimiter));
  if (other !== undefined) {
    const name = other === "\t" ? "tab" : other;
    throw new FileFault(
      `The cells of ${file.name} are separated by "${name}": import it with ${words.delimiter(name)}.`,
    );
  }
  yield first;
  yield* chunks;
}

function readHeader(
  { file: { name: file }, fieldKinds, fieldOf = (column) => column.toLowerCase() }: ReadFile,
  cells: readonly string[],
): string[] {
  const columns = withoutEmptyEnd(cells).map((cell) => fieldOf(cell.trim()));
  const unknown = columns.filter((column) => column !== "" && !fieldKinds.has(column));
  if (unknown.length > 0) {
    const known = [...fieldKinds.keys()].join(", ");
    throw new FileFault(
      `${file} has unknown columns: ${listed(unknown)}. Known columns: ${known}.`,
    );
  }
  const twice = columns.find((column, index) => column !== "" && columns.indexOf(column) !== index);
  if (twice !== undefined) throw new FileFault(`${file} has the column ${twice} twice.`);
  return columns;
}

/** The first names, and how many more there are: the text is stored and shown. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, UNKNOWN_NAMED_MAX).map((name) => `"${shownName(name)}"`);
  const more = names.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function csvRow(
  number: number,
  columns: readonly string[],
  record: readonly string[],
  kinds: ReadonlyMap<string, FieldKind>,
): FileRow {
  const isLonger =
    record.length > columns.length && withoutEmptyEnd(record).length <= columns.length;
  const cells = isLonger ? record.slice(0, columns.length) : record;
  if (cells.length !== columns.length) {
    return {
      number,
      fields: {},
      fault: `has ${cells.length} cells, but there are ${columns.length} columns`,
    };
  }
  const fields = columns.flatMap((column, index): [string, unknown][] => {
    const cell = cells[index] ?? "";
    const kind = kinds.get(column);
    return cell === "" || kind === undefined ? [] : [[column, valueOf(kind, cell)]];
  });
  return { number, fields: Object.fromEntries(fields) };
}

async function* jsonRows({ file }: ReadFile): AsyncGenerator<FileRow> {
  const texts = new JsonTexts();
  let number = 0;
  for await (const chunk of textChunks(file)) {
    for (const text of texts.take(chunk)) {
      number += 1;
      yield { number, ...fieldsOf(text) };
    }
  }
  texts.finish();
}

const Fields = z.record(z.string(), z.unknown());

function fieldsOf(text: string): Pick<FileRow, "fields" | "fault"> {
  try {
    return { fields: Fields.parse(parseSentJson(text, RECORD_BOUNDS)) };
  } catch (error) {
    if (error instanceof JsonExcessError) return { fields: {}, fault: error.message };
    if (!(error instanceof SyntaxError)) throw error;
    return { fields: {}, fault: `is not JSON: ${error.message}` };
  }
}

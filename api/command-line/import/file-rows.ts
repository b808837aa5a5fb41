import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { z } from "zod";
import { CommandError, UsageError } from "../command-error.ts";
import { type FieldKind, valueOf } from "../field-values.ts";
import { JsonTexts } from "./json-texts.ts";
import { textChunks } from "./text-chunks.ts";

export type FileFormat = "csv" | "json";

export type ImportFile = {
  readonly path: string;
  readonly format: FileFormat;
  /** Separates the cells of CSV. */
  readonly delimiter: string;
};

/** One record of a file. */
export type FileRow = {
  /** Counted as in a spreadsheet, where the header is row 1; in JSON the first record is 1. */
  readonly number: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Fault of the row as a whole. */
  readonly fault?: string;
};

/** Far above any known need. Bounds the memory for one entry per row to a few hundred MB. */
const ROWS_MAX = 1_000_000;
const RECORD_CHARACTERS_MAX = 1024 ** 2;
const DELIMITERS = [",", ";", "\t"];
const Cells = z.array(z.string());

/** The format of a file, from the option or from the extension. @throws {UsageError} when neither gives one. */
export function formatOf(path: string, asked: string | undefined): FileFormat {
  const ending = asked ?? /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv") return "csv";
  if (ending === "json" || ending === "jsonl" || ending === "ndjson") return "json";
  throw new UsageError(
    asked === undefined
      ? `${path} ends neither in .csv nor in .json or .jsonl: set --format.`
      : `--format ${asked} is not one of csv, json.`,
  );
}

/**
 * Reads the records of a file one by one in bounded memory. Cells become values by the kinds of their columns; an empty cell means
 * the field is left out.
 * @throws {CommandError} for a file of another format or with unknown columns.
 */
export async function* fileRows(
  file: ImportFile,
  kinds: ReadonlyMap<string, FieldKind>,
): AsyncGenerator<FileRow> {
  let count = 0;
  for await (const row of file.format === "csv" ? csvRows(file, kinds) : jsonRows(file)) {
    count += 1;
    if (count > ROWS_MAX) {
      throw new CommandError(
        `${file.path} has more than ${ROWS_MAX} rows: split it into several files.`,
      );
    }
    yield row;
  }
}

async function* csvRows(
  file: ImportFile,
  kinds: ReadonlyMap<string, FieldKind>,
): AsyncGenerator<FileRow> {
  let columns: readonly string[] | undefined;
  let number = 0;
  for await (const cells of csvRecords(file)) {
    number += 1;
    if (columns === undefined) columns = readHeader(file, cells, kinds);
    else if (cells.some((cell) => cell !== "")) yield csvRow(number, columns, cells, kinds);
  }
  if (columns === undefined)
    throw new CommandError(
      `${file.path} is empty: the first row must have the names of the columns.`,
    );
}

async function* csvRecords(file: ImportFile): AsyncGenerator<string[]> {
  const source = Readable.from(csvChunks(file));
  const parser = parse({
    delimiter: file.delimiter,
    relax_column_count: true,
    max_record_size: RECORD_CHARACTERS_MAX,
  });
  source.on("error", (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const record of parser) yield Cells.parse(record);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new CommandError(`${file.path} is not CSV: ${error.message}.`, { cause: error });
  } finally {
    source.destroy();
    parser.destroy();
  }
}

/** Checks the header for another delimiter first. Otherwise the parser would fail on quotes, with a misleading message. */
async function* csvChunks({ path, delimiter }: ImportFile): AsyncGenerator<string> {
  let isFirst = true;
  for await (const chunk of textChunks(path)) {
    const [header = ""] = isFirst ? chunk.split(/[\r\n]/, 1) : [];
    const other = DELIMITERS.find((one) => header.includes(one) && !header.includes(delimiter));
    if (other !== undefined) {
      const name = other === "\t" ? "tab" : other;
      throw new CommandError(
        `The cells of ${path} are separated by "${name}": import it with --delimiter "${name}".`,
      );
    }
    isFirst = false;
    yield chunk;
  }
}

function readHeader(
  { path }: ImportFile,
  cells: readonly string[],
  kinds: ReadonlyMap<string, FieldKind>,
): string[] {
  const columns = cells.map((cell) => cell.trim());
  const unknown = columns.filter((column) => !kinds.has(column));
  if (unknown.length > 0) {
    const names = unknown.map((column) => `"${column}"`).join(", ");
    throw new CommandError(
      `${path} has unknown columns: ${names}. Known columns: ${[...kinds.keys()].join(", ")}.`,
    );
  }
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice !== undefined) throw new CommandError(`${path} has the column ${twice} twice.`);
  return columns;
}

function csvRow(
  number: number,
  columns: readonly string[],
  cells: readonly string[],
  kinds: ReadonlyMap<string, FieldKind>,
): FileRow {
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

async function* jsonRows({ path }: ImportFile): AsyncGenerator<FileRow> {
  const texts = new JsonTexts();
  let number = 0;
  for await (const chunk of textChunks(path)) {
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
    return { fields: Fields.parse(JSON.parse(text)) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { fields: {}, fault: `is not JSON: ${error.message}` };
  }
}

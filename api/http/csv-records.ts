/** A text that is no CSV. */
export class CsvFault extends Error {
  override readonly name = "CsvFault";
}

/** Far more than any table of ours has columns. */
const CELLS_MAX = 100;
const UNDOUBLED_MAX = 10_000;
const BYTE_ORDER_MARK = "\uFEFF";
const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** The line by which spreadsheets name the character between cells. */
const SEPARATOR_LINE = /^sep=([^\r\n"])(?=[\r\n]|$)/i;
const OTHERS = [
  [";", "a semicolon"],
  ["\t", "a tab"],
] as const;
const HEADER_CHARACTERS = 2_000;

/**
 * The records of a CSV text by RFC 4180, one by one: a reader that stops early has not paid for the rest, and a text costs little more than
 * looking at each character (G213). Empty lines are left out. Records may have different numbers of cells. A first line such as `sep=;`
 * names another character between cells than a comma.
 * @throws {CsvFault}
 */
export function* csvRecords(text: string): Generator<string[], undefined> {
  const start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  const [line = "", separator] = SEPARATOR_LINE.exec(text.slice(start, start + 6)) ?? [];
  const mark = (separator ?? ",").charCodeAt(0);
  if (separator === undefined) refuseOtherSeparator(text);
  let at = start + line.length;
  while (at < text.length) {
    const lineEnd = endOfLineEnd(text, at);
    if (lineEnd > at) {
      at = lineEnd;
      continue;
    }
    const cells: string[] = [];
    do {
      if (cells.length === CELLS_MAX) throw new CsvFault(`a line has more than ${CELLS_MAX} cells`);
      if (cells.length > 0) at += 1;
      const end =
        text.charCodeAt(at) === QUOTE ? endOfQuoted(text, at, mark) : endOfPlain(text, at, mark);
      cells.push(cellAt(text, at, end));
      at = end;
    } while (text.charCodeAt(at) === mark);
    yield cells;
  }
  return undefined;
}

/** Names of columns have no such characters. @throws {CsvFault} if the first line has no comma, but what some spreadsheets write instead. */
function refuseOtherSeparator(text: string): void {
  const [header = ""] = text.slice(0, HEADER_CHARACTERS).split(/[\r\n]/, 1);
  if (header.includes(",")) return;
  for (const [character, name] of OTHERS)
    if (header.includes(character))
      throw new CsvFault(
        `its cells are separated by ${name}: separate them by commas, or begin with the line sep=${character}`,
      );
}

/** The index behind the line end at `at`, or `at` if there is none. */
function endOfLineEnd(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === LINE_FEED) return at + 1;
  if (code !== CARRIAGE_RETURN) return at;
  return text.charCodeAt(at + 1) === LINE_FEED ? at + 2 : at + 1;
}

function endOfPlain(text: string, from: number, mark: number): number {
  const { length } = text;
  for (let at = from; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === mark || code === LINE_FEED || code === CARRIAGE_RETURN) return at;
    if (code === QUOTE) throw new CsvFault("a quotation mark is inside a cell without quotes");
  }
  return length;
}

/** The index behind the quotation mark that ends the cell. Two of them stand for one within it. */
function endOfQuoted(text: string, from: number, mark: number): number {
  const { length } = text;
  for (let at = from + 1; at < length; at += 1) {
    if (text.charCodeAt(at) !== QUOTE) continue;
    if (text.charCodeAt(at + 1) !== QUOTE) {
      if (isCellEnd(text, at + 1, mark)) return at + 1;
      throw new CsvFault("text follows the quotation mark that ends a cell");
    }
    at += 1;
  }
  throw new CsvFault("a quotation mark has no counterpart");
}

function isCellEnd(text: string, at: number, mark: number): boolean {
  if (at >= text.length) return true;
  return text.charCodeAt(at) === mark || endOfLineEnd(text, at) > at;
}

/** No field of ours accepts a text beyond the limit, so there it does not matter that quotation marks stay doubled. */
function cellAt(text: string, from: number, end: number): string {
  if (text.charCodeAt(from) !== QUOTE) return text.slice(from, end);
  const cell = text.slice(from + 1, end - 1);
  return cell.length > UNDOUBLED_MAX ? cell : cell.replaceAll('""', '"');
}

/** A line of cells without the empty ones at its end: spreadsheets write a comma for each column that once had something. */
export function withoutEmptyEnd(cells: readonly string[]): readonly string[] {
  const last = cells.findLastIndex((cell) => cell !== "");
  return cells.slice(0, last + 1);
}

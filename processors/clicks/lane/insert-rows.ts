import { Readable } from "node:stream";
import type { ClickHouseSettings } from "@clickhouse/client";
import { CLOSING_LANE } from "../../../schemas/clickhouse/closing-lane.ts";
import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import { deduplicatedInsert } from "../../../schemas/clickhouse/deduplicated-insert.ts";
import { clickhouseCode } from "../../../schemas/clickhouse/errors.ts";
import type { Segment } from "../rows/batch.ts";
import { insertStatement, type LaneTable } from "../rows/lane-table.ts";
import { checkRow } from "../rows/read-line.ts";
import type { Home } from "./home.ts";

/** An insert of a lane into one partition. It becomes one block, which ClickHouse stores entirely or not at all. */
export type Insert = {
  readonly table: LaneTable;
  readonly layout: Home["layout"];
  readonly lane: number;
  readonly writerEpoch: number;
  readonly queryId: string;
  /** The intent's token. ClickHouse stores the first block that it commits under this token, whatever its rows, and drops all later ones. */
  readonly token: string;
  /** ClickHouse gives up after this time, and this process shortly after. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** The lane has a newer writer. */
export class FencedError extends Error {
  override readonly name = "FencedError";
}

/** ClickHouse did not answer in time. */
export class InsertTimeoutError extends Error {
  override readonly name = "InsertTimeoutError";
}

const THROW_IF = "395";
/** Error codes for a row that does not parse: 25 escape, 26 string, 27 value, 33 end, 72 number, 117 field. */
const DATA_CODES = new Set(["25", "26", "27", "33", "72", "117"]);
/** Smaller segments are joined to chunks of this size. */
const CHUNK_BYTES = 65_536;
const ABORT_MARGIN_MS = 1_000;
const TIMED_OUT = "timed out";
/** More rows than any batch has, so that an insert is one block and one part, which is stored entirely or not at all. */
const BLOCK_ROWS = 1_000_000;
const BLOCK_BYTES = 1_073_741_824;

/** Rows that ClickHouse refused and that do not match the schema either. */
export type Refused = {
  readonly producer: number;
  readonly epoch: number;
  readonly position: number;
};

/**
 * Inserts the rows of segments of one partition, and waits until a block with the token is in the table: the block of these rows, or a block
 * that was committed before. Returns the rows that are not valid records.
 * @throws {FencedError} if nothing was written because the lane has a newer writer. After any other error it is unknown whether the
 * rows are stored.
 */
export async function insertRows(
  clickhouse: Clickhouse,
  insert: Insert,
  segments: readonly Segment[],
): Promise<Refused[]> {
  try {
    await send(clickhouse, insert, { bytes: chunks(segments) });
    return [];
  } catch (error) {
    const code = clickhouseCode(error);
    if (code === THROW_IF) {
      throw new FencedError(
        `lane ${insert.lane} has a newer writer than epoch ${insert.writerEpoch}`,
        { cause: error },
      );
    }
    if (!DATA_CODES.has(code)) throw error;
    // Nothing was written, and this statement has ended. Check every row and rewrite it with our own serialiser, so that one bad row cannot
    // stop a lane. The token may be used again: whichever block is committed under it, the others are dropped.
    const { rows, refused } = checked(insert.table, segments);
    const retry = { ...insert, queryId: `${insert.queryId}r` };
    const bytes = [Buffer.from(`${rows.join("\n")}\n`)];
    if (rows.length > 0) await send(clickhouse, retry, { bytes });
    return refused;
  }
}

/**
 * Uses up the token of an insert, so that no block of it is stored from then on: inserts a row of no lane into its partition. If a block with
 * the token was committed before, the row is dropped.
 */
export async function insertClosingRow(
  clickhouse: Clickhouse,
  insert: Insert,
  { month, n }: { readonly month: number; readonly n: number },
): Promise<void> {
  const ts = Date.UTC(Math.floor(month / 100), (month % 100) - 1);
  // Only clicks have an id. It must differ from the ids of all other rows.
  const row = {
    ts,
    click_id: insert.token,
    _producer: 0,
    _epoch: insert.writerEpoch,
    _position: n,
  };
  const closing = { ...insert, queryId: `${insert.queryId}c` };
  const bytes = [Buffer.from(`${JSON.stringify(row)}\n`)];
  await send(clickhouse, closing, { bytes, rowLane: CLOSING_LANE });
}

function checked(
  table: LaneTable,
  segments: readonly Segment[],
): { rows: string[]; refused: Refused[] } {
  const rows: string[] = [];
  const refused: Refused[] = [];
  for (const { bytes, producer, epoch, from } of segments) {
    for (const [index, row] of bytes.toString().trimEnd().split("\n").entries()) {
      const text = checkRow(row, table.name);
      if (text === undefined) refused.push({ producer, epoch, position: from + index });
      else rows.push(text);
    }
  }
  return { rows, refused };
}

async function send(
  clickhouse: Clickhouse,
  insert: Insert,
  rows: { readonly bytes: Iterable<Buffer>; readonly rowLane?: number },
): Promise<void> {
  // Node keeps every signal of `AbortSignal.any` as long as the lane's signal, so a listener takes its place.
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(() => ending.abort(TIMED_OUT), insert.timeoutMs + ABORT_MARGIN_MS);
  insert.signal.addEventListener("abort", end);
  if (insert.signal.aborted) end();
  try {
    const result = await clickhouse.exec({
      query: insertStatement(insert.table, { ...insert, ...rows }),
      values: Readable.from(rows.bytes, { objectMode: false }),
      query_id: insert.queryId,
      abort_signal: ending.signal,
      clickhouse_settings: settingsOf(insert),
    });
    for await (const chunk of result.stream) void chunk;
  } catch (error) {
    if (ending.signal.reason !== TIMED_OUT) throw error;
    throw new InsertTimeoutError(`no answer within ${insert.timeoutMs} ms`, { cause: error });
  } finally {
    clearTimeout(timer);
    insert.signal.removeEventListener("abort", end);
  }
}

function settingsOf(insert: Insert): ClickHouseSettings {
  return {
    ...deduplicatedInsert(insert.token, insert),
    max_execution_time: Math.max(1, Math.ceil(insert.timeoutMs / 1_000)),
    input_format_parallel_parsing: 0,
    input_format_skip_unknown_fields: 1,
    input_format_json_throw_on_bad_escape_sequence: 0,
    max_insert_block_size: String(BLOCK_ROWS),
    max_block_size: String(BLOCK_ROWS),
    min_insert_block_size_rows: String(BLOCK_ROWS),
    min_insert_block_size_bytes: String(BLOCK_BYTES),
    max_insert_threads: "1",
  };
}

function* chunks(segments: readonly Segment[]): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for (const { bytes } of segments) {
    waiting.push(bytes);
    size += bytes.length;
    if (size < CHUNK_BYTES) continue;
    yield waiting.length === 1 ? bytes : Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(waiting);
}

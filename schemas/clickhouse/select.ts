import type { ClickHouseSettings } from "@clickhouse/client";
import { z } from "zod";
import type { ClickhouseReader } from "./connect.ts";

/** A statement with typed parameters (`{name:Type}`). */
export type SelectStatement = {
  /** `<process>.<operation>`: its name in the server's query log. */
  readonly name: string;
  readonly text: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  /** Replace settings of the client. */
  readonly settings?: ClickHouseSettings;
};

/** The rows of a page. `totals` has the same columns over all rows; `rowsAll` counts the rows without the page's limit. */
export type Page<Row> = {
  readonly rows: Row[];
  readonly totals: Row | undefined;
  readonly rowsAll: number;
};

const TIMEOUT_MS = 20_000;
const TIMEOUT_MARGIN_MS = 2_000;

/** Returns all rows at once: for statements with a limit. Throws what the client throws, and a ZodError for an unexpected row. */
export async function selectRows<Row>(
  clickhouse: ClickhouseReader,
  statement: SelectStatement,
  row: z.ZodType<Row>,
): Promise<Row[]> {
  const answer = await clickhouse.query({ ...requestOf(statement), format: "JSONEachRow" });
  return z.array(row).parse(await answer.json());
}

/** A statement of the form `… with totals … limit …`. */
export async function selectPage<Row>(
  clickhouse: ClickhouseReader,
  statement: SelectStatement,
  row: z.ZodType<Row>,
): Promise<Page<Row>> {
  const answer = await clickhouse.query({ ...requestOf(statement), format: "JSON" });
  const page = z
    .object({
      data: z.array(row),
      totals: row.optional(),
      rows_before_limit_at_least: z.number().optional(),
    })
    .parse(await answer.json());
  return {
    rows: page.data,
    totals: page.totals,
    rowsAll: page.rows_before_limit_at_least ?? page.data.length,
  };
}

/** Yields rows as they arrive, a few hundred at a time, without holding the whole result. Ends the request when the reader stops. */
export async function* streamRows<Row>(
  clickhouse: ClickhouseReader,
  statement: SelectStatement,
  row: z.ZodType<Row>,
): AsyncGenerator<Row[]> {
  const rows = z.array(row);
  const answer = await clickhouse.query({ ...requestOf(statement), format: "JSONEachRow" });
  const stream = answer.stream<unknown>();
  try {
    for await (const chunk of stream) yield rows.parse(chunk.map((line) => line.json()));
  } finally {
    answer.close();
  }
}

function requestOf({ name, text, params, timeoutMs = TIMEOUT_MS, settings }: SelectStatement): {
  query: string;
  query_params: Record<string, unknown>;
  clickhouse_settings: ClickHouseSettings;
  use_multipart_params_auto: boolean;
  abort_signal: AbortSignal;
} {
  return {
    query: text,
    query_params: { ...params },
    // The server's own limit comes first, because its error says why.
    abort_signal: AbortSignal.timeout(timeoutMs + TIMEOUT_MARGIN_MS),
    clickhouse_settings: {
      log_comment: name,
      max_execution_time: Math.ceil(timeoutMs / 1_000),
      exact_rows_before_limit: 1,
      // The server cancels the statement of a client that has left, but only if it is read-only. 2 still allows settings.
      readonly: "2",
      cancel_http_readonly_queries_on_client_close: 1,
      output_format_json_quote_64bit_integers: 0,
      output_format_json_quote_decimals: 1,
      date_time_output_format: "iso",
      ...settings,
    },
    use_multipart_params_auto: true,
  };
}

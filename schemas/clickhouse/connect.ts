import { readFileSync } from "node:fs";
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";

export type ClickhouseServer = {
  /** `http://user:password@host:port/database`. */
  readonly url: string;
  /** Certificates of the authority that signed the server's. */
  readonly caFile?: string | undefined;
};

export type ClickhouseOptions = ClickhouseServer & {
  readonly applicationName: string;
  readonly requestTimeoutMs?: number;
  readonly connectionsMax?: number;
};

export type Clickhouse = ClickHouseClient;
/** For code that only reads. */
export type ClickhouseReader = Pick<Clickhouse, "query">;
/** For code that changes stored rows. */
export type ClickhouseEditor = Pick<Clickhouse, "query" | "command">;

const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_MAX = 10;

/** Opens no connection yet. 64-bit integers are read as numbers: ids, counts and positions stay below 2^53. */
export function openClickhouse(options: ClickhouseOptions): Clickhouse {
  return createClient({
    url: options.url,
    ...(options.caFile === undefined ? {} : { tls: { ca_cert: readFileSync(options.caFile) } }),
    application: options.applicationName,
    request_timeout: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    // Errors are thrown. The client would also print them to the console.
    log: { level: ClickHouseLogLevel.OFF },
    max_open_connections: options.connectionsMax ?? CONNECTIONS_MAX,
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      output_format_json_quote_decimals: 1,
      output_format_decimal_trailing_zeros: 1,
      date_time_output_format: "iso",
    },
  });
}

/** The database in a URL. Migrations create it. */
export function clickhouseDatabase(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "default";
}

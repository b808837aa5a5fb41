import { readFileSync } from "node:fs";
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from "@clickhouse/client";
import { type ClientMethods, failingOver } from "./fail-over.ts";
import { type ClickhouseServer, clickhouseDatabase, seedUrls } from "./server.ts";

/** What a statement over all shards needs to say. */
export type ClickhouseCluster = { readonly name: string; readonly database: string };

export type ClickhouseOptions = ClickhouseServer & {
  readonly applicationName: string;
  readonly requestTimeoutMs?: number;
  readonly connectionsMax?: number;
  /** For one node of a cluster: statements read the rows that this node has, not the rows of all shards. */
  readonly isOneNode?: boolean;
};

/** A client knows whether its clicks are spread over shards, so no reader can take the clicks of one shard for all clicks. */
export type Clickhouse = ClientMethods & { readonly cluster: ClickhouseCluster | undefined };
/** For code that only reads. */
export type ClickhouseReader = Pick<Clickhouse, "query" | "cluster">;
/** For code that changes stored rows. */
export type ClickhouseEditor = Pick<Clickhouse, "query" | "command" | "cluster">;

const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_MAX = 10;

/** How far a replica that answers reports may be behind the others of its shard. */
const REPLICA_DELAY_SECONDS_MAX = 5;
/**
 * The server does not compile expressions to machine code. At the third use of an expression it would spend 20 to 50 ms on compiling, which
 * four million rows do not repay.
 */
const INTERPRETED: ClickHouseSettings = {
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
};
/** Every shard answers from a replica that is not stale, or the statement fails: a part of the rows is never the answer. */
const OF_CLUSTER: ClickHouseSettings = {
  skip_unavailable_shards: 0,
  max_replica_delay_for_distributed_queries: String(REPLICA_DELAY_SECONDS_MAX),
  fallback_to_stale_replicas_for_distributed_queries: 0,
  // What is acknowledged survives the loss of a node.
  insert_quorum: "auto",
};

/**
 * Opens no connection yet. 64-bit integers are read as numbers: ids, counts and positions stay below 2^53. With several nodes it moves on to
 * the next one when one is away; for what must stay on one node, give one URL.
 */
export function openClickhouse(options: ClickhouseOptions): Clickhouse {
  const [first = "", ...others] = seedUrls(options.url);
  const client = openNode(first, options);
  const cluster =
    options.cluster === undefined || options.isOneNode === true
      ? undefined
      : { name: options.cluster, database: clickhouseDatabase(first) };
  const all =
    others.length === 0
      ? client
      : failingOver([client, ...others.map((url) => openNode(url, options))]);
  return Object.assign(all, { cluster });
}

function openNode(url: string, options: ClickhouseOptions): ClickHouseClient {
  return createClient({
    url,
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
      ...INTERPRETED,
      ...(options.cluster === undefined ? {} : OF_CLUSTER),
    },
  });
}

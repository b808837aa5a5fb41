import { readFileSync } from "node:fs";
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from "@clickhouse/client";
import type { SettingsOf } from "../host/read-settings.ts";
import { type ClientMethods, failingOver } from "./fail-over.ts";

export type ClickhouseServer = {
  /** `http://user:password@host:port/database`; of a cluster also several of its nodes, comma-separated. */
  readonly url: string;
  /** Certificates of the authority that signed the server's. */
  readonly caFile?: string | undefined;
  /** The cluster in `remote_servers` over which its clicks are spread. Undefined for a server alone (CLICKHOUSE_LAYOUT). */
  readonly cluster?: string | undefined;
};

/** The server of a process. */
export function clickhouseServer(
  read: Pick<
    SettingsOf<"processors">,
    "CLICKHOUSE_URL" | "CLICKHOUSE_CA_FILE" | "CLICKHOUSE_LAYOUT" | "CLICKHOUSE_CLUSTER"
  >,
): ClickhouseServer {
  return {
    url: read.CLICKHOUSE_URL,
    caFile: read.CLICKHOUSE_CA_FILE,
    cluster: clusterName(read),
  };
}

/** The cluster of the settings. Undefined in the layout `single`. */
export function clusterName(
  read: Pick<SettingsOf<"tracker">, "CLICKHOUSE_LAYOUT" | "CLICKHOUSE_CLUSTER">,
): string | undefined {
  return read.CLICKHOUSE_LAYOUT === "cluster" ? read.CLICKHOUSE_CLUSTER : undefined;
}

/** What a statement over all shards needs to say. */
export type ClickhouseCluster = { readonly name: string; readonly database: string };

export type ClickhouseOptions = ClickhouseServer & {
  readonly applicationName: string;
  readonly requestTimeoutMs?: number;
  readonly connectionsMax?: number;
  /** For one node of a cluster: statements read the rows that this node has, not those of all shards. */
  readonly isOneNode?: boolean;
};

/** A client knows whether its clicks are spread over shards, so no reader can take those of one shard for all. */
export type Clickhouse = ClientMethods & { readonly cluster: ClickhouseCluster | undefined };
/** For code that only reads. */
export type ClickhouseReader = Pick<Clickhouse, "query" | "cluster">;
/** For code that changes stored rows. */
export type ClickhouseEditor = Pick<Clickhouse, "query" | "command" | "cluster">;

const REQUEST_TIMEOUT_MS = 30_000;
const CONNECTIONS_MAX = 10;

/** Of a replica that answers reports: how far it may be behind the others of its shard. */
const REPLICA_DELAY_SECONDS_MAX = 5;
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
      ...(options.cluster === undefined ? {} : OF_CLUSTER),
    },
  });
}

/** The nodes in CLICKHOUSE_URL. */
export function seedUrls(url: string): readonly string[] {
  return url.split(",").map((one) => one.trim());
}

/** The database in a URL. Migrations create it. */
export function clickhouseDatabase(url: string): string {
  const [first = ""] = seedUrls(url);
  return decodeURIComponent(new URL(first).pathname.slice(1)) || "default";
}

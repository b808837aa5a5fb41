import { z } from "zod";
import { type Clickhouse, type ClickhouseReader, openClickhouse } from "./connect.ts";
import { isClickhouseAway, lacksDatabase } from "./errors.ts";
import { selectRows } from "./select.ts";
import { type ClickhouseServer, seedUrls } from "./server.ts";

/** A node as `remote_servers` of the cluster lists it. */
export type ClusterNode = {
  readonly shard: number;
  readonly replica: number;
  readonly host: string;
  /** `<shard>-<replica>` of its own macros, by which a lane knows its home. Undefined while the node does not answer or lacks the database. */
  readonly home: string | undefined;
};

type Opened = ClusterNode & { readonly client: Clickhouse };

const Listed = z.object({
  shard: z.int(),
  replica: z.int(),
  host: z.string(),
  isLocal: z.int().transform((flag) => flag === 1),
});
type Listed = z.infer<typeof Listed>;
const Macros = z.object({ home: z.string() });

const NODES_MAX = 256;
/** Connections to a node that are open at once, unless the caller asks for another number. */
const CONNECTIONS_MAX = 4;
const ASK_MS = 5_000;

/**
 * The nodes of a cluster and a client for each. A node in CLICKHOUSE_URL is reached at its URL there; any other at the host that
 * `remote_servers` names, with the scheme, port, user and database of the first URL.
 */
export class ClusterNodes {
  readonly #opened: readonly Opened[];

  private constructor(opened: readonly Opened[]) {
    this.#opened = opened;
  }

  /** @throws if no node of CLICKHOUSE_URL answers, if it does not know the cluster, or if two nodes have the same macros. */
  static async open(
    server: ClickhouseServer,
    { applicationName, connectionsMax = CONNECTIONS_MAX, requestTimeoutMs }: NodeOptions,
  ): Promise<ClusterNodes> {
    const { cluster } = server;
    if (cluster === undefined) throw new Error("a server alone has no nodes");
    const open = (url: string): Clickhouse =>
      openClickhouse({
        ...server,
        url,
        applicationName,
        connectionsMax,
        ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
      });
    const unnamed = (await locateNodes(server, cluster, open)).map(({ url, ...node }) => ({
      ...node,
      client: open(url),
    }));
    try {
      const homes = await Promise.all(unnamed.map(({ client }) => homeName(client)));
      assertDifferent(cluster, homes);
      return new ClusterNodes(unnamed.map((node, index) => ({ ...node, home: homes[index] })));
    } catch (error) {
      await Promise.all(unnamed.map(({ client }) => client.close()));
      throw error;
    }
  }

  get all(): readonly ClusterNode[] {
    return this.#opened;
  }

  /** Hosts that do not answer. */
  get away(): readonly string[] {
    return this.#opened.flatMap(({ host, home }) => (home === undefined ? [host] : []));
  }

  /** The client of the node with these macros; undefined if no node that answers has them. */
  clientOf(home: string): Clickhouse | undefined {
    return this.#opened.find((node) => node.home === home)?.client;
  }

  clients(): readonly Opened[] {
    return this.#opened;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map(({ client }) => client.close()));
  }
}

function assertDifferent(cluster: string, homes: readonly (string | undefined)[]): void {
  const twice = homes.filter((home, index) => home !== undefined && homes.indexOf(home) !== index);
  if (twice.length > 0)
    throw new Error(
      `ClickHouse nodes of the cluster ${cluster} have the same macros (${twice.join(", ")}): give each its own shard and replica`,
    );
}

export type NodeOptions = {
  readonly applicationName: string;
  readonly connectionsMax?: number;
  readonly requestTimeoutMs?: number;
};

type Located = Omit<ClusterNode, "home"> & { readonly url: string };

/**
 * The nodes that `remote_servers` lists, each with its URL. `open` makes a client that is closed again. @throws if no node of CLICKHOUSE_URL
 * answers, and if it does not know the cluster.
 */
export async function locateNodes(
  { url }: Pick<ClickhouseServer, "url">,
  cluster: string,
  open: (url: string) => Clickhouse,
): Promise<Located[]> {
  let listed: readonly Listed[] | undefined;
  const urls = new Map<string, string>();
  let fault = new Error("CLICKHOUSE_URL names no node");
  for (const seed of seedUrls(url)) {
    const client = open(seed);
    try {
      const known = await listedNodes(client, cluster);
      listed ??= known;
      for (const node of known) if (node.isLocal) urls.set(placeOf(node), seed);
    } catch (error) {
      if (!isClickhouseAway(error) && !lacksDatabase(error)) throw error;
      fault = error instanceof Error ? error : fault;
    } finally {
      await client.close();
    }
  }
  if (listed === undefined) throw fault;
  return listed.map(({ shard, replica, host }) => ({
    shard,
    replica,
    host,
    url: urls.get(placeOf({ shard, replica })) ?? urlAt(url, host),
  }));
}

async function listedNodes(client: Clickhouse, cluster: string): Promise<Listed[]> {
  const text = `select shard_num as shard, replica_num as replica, host_name as host, is_local as isLocal
    from system.clusters where cluster = {cluster: String} order by shard, replica limit ${NODES_MAX + 1}`;
  const nodes = await selectRows(
    client,
    { name: "clickhouse.nodes", text, params: { cluster }, timeoutMs: ASK_MS },
    Listed,
  );
  if (nodes.length === 0)
    throw new Error(
      `ClickHouse has no cluster ${cluster} in its remote_servers: set CLICKHOUSE_CLUSTER to the name that is there`,
    );
  if (nodes.length > NODES_MAX)
    throw new Error(`the ClickHouse cluster ${cluster} has more than ${NODES_MAX} nodes`);
  return nodes;
}

/**
 * `<shard>-<replica>` of a node's macros; undefined if it does not answer, or has lost the database with its disk. @throws if it has no macros.
 */
export async function homeName(client: ClickhouseReader): Promise<string | undefined> {
  const text = "select concat(getMacro('shard'), '-', getMacro('replica')) as home";
  try {
    const rows = await selectRows(
      client,
      { name: "clickhouse.home", text, timeoutMs: ASK_MS },
      Macros,
    );
    return rows[0]?.home;
  } catch (error) {
    if (isClickhouseAway(error) || lacksDatabase(error)) return undefined;
    throw error;
  }
}

function placeOf({ shard, replica }: Pick<ClusterNode, "shard" | "replica">): string {
  return `${shard}.${replica}`;
}

function urlAt(given: string, host: string): string {
  const url = new URL(seedUrls(given)[0] ?? "");
  url.hostname = host.includes(":") ? `[${host}]` : host;
  return url.toString();
}

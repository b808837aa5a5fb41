import { within } from "../host/within.ts";
import { homeName, locateNodes } from "./cluster.ts";
import { type Clickhouse, openClickhouse } from "./connect.ts";
import type { ClickhouseServer } from "./server.ts";

/** A node of a cluster that answers. */
export type AnsweringNode = {
  /** `<shard>-<replica>` of its macros. */
  readonly home: string;
  /** Its shard in the macros. */
  readonly shard: string;
  /** Reads the rows of this node only. */
  readonly node: Clickhouse;
};

/** A node that takes longer does not answer: it may be frozen. */
const ANSWER_MS = 2_000;

type Options = { readonly applicationName: string; readonly connectionsMax: number };

/**
 * Finds the nodes of a cluster that answer now, also nodes that were added since the last time. It keeps a client for each node that it has
 * met until it is closed. Callers that ask at the same time share an answer.
 */
export class NodeDirectory {
  readonly #server: ClickhouseServer & { readonly cluster: string };
  readonly #options: Options;
  readonly #clients = new Map<string, Clickhouse>();
  #looking: Promise<readonly AnsweringNode[]> | undefined;

  constructor(server: ClickhouseServer & { readonly cluster: string }, options: Options) {
    this.#server = server;
    this.#options = options;
  }

  /** Undefined for a server alone. Opens no connection yet. */
  static ofCluster(server: ClickhouseServer, options: Options): NodeDirectory | undefined {
    const { cluster } = server;
    return cluster === undefined ? undefined : new NodeDirectory({ ...server, cluster }, options);
  }

  /** @throws if no node of CLICKHOUSE_URL answers, and if it does not know the cluster. */
  async answering(): Promise<readonly AnsweringNode[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return await this.#looking;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  async #look(): Promise<readonly AnsweringNode[]> {
    const open = (url: string): Clickhouse =>
      openClickhouse({ ...this.#server, ...this.#options, url, isOneNode: true });
    const located = await locateNodes(this.#server, this.#server.cluster, open);
    const nodes = await Promise.all(
      located.map(async ({ url }) => {
        const node = this.#clients.get(url) ?? open(url);
        this.#clients.set(url, node);
        const home = await within(ANSWER_MS, homeName(node));
        return home === undefined || home === "late" ? [] : [{ home, shard: shardOf(home), node }];
      }),
    );
    return nodes.flat();
  }
}

/** The shards of these nodes, in the order of their names. */
export function shardsOf(nodes: readonly AnsweringNode[]): string[] {
  return [...new Set(nodes.map(({ shard }) => shard))].toSorted();
}

/** The shard in the name of a home. */
export function shardOf(home: string): string {
  return home.slice(0, home.indexOf("-"));
}

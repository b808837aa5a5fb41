import type { Clickhouse } from "../../../schemas/clickhouse/connect.ts";
import {
  type AnsweringNode,
  type NodeDirectory,
  shardsOf,
} from "../../../schemas/clickhouse/node-directory.ts";
import type { Log } from "../../../schemas/host/log.ts";
import { within } from "../../../schemas/host/within.ts";
import type { LaneTable } from "../rows/lane-table.ts";

/** The ClickHouse server where a lane is written. */
export type Home = {
  /** `<shard>-<replica>`; null for a server alone. */
  readonly name: string | null;
  /** Null for a server alone. */
  readonly shard: string | null;
  /** Reads the rows of this server only. */
  readonly clickhouse: Clickhouse;
  /** In a cluster, rows that this replica has may still be lost with it, until others have confirmed them. */
  readonly layout: "single" | "cluster";
};

/** A server that has what the replicas of its shard have acknowledged. */
export type ShardServer = { readonly shard: string; readonly clickhouse: Clickhouse };

type Table = LaneTable["name"];

/** The last home keeps the lane if it has what others have within this time. */
const SAME_HOME_MS = 2_000;
const SYNC_MS = 10_000;

/** Finds the ClickHouse servers of lanes. */
export class LaneHomes {
  readonly #alone: Clickhouse;
  readonly #nodes: Pick<NodeDirectory, "answering" | "close"> | undefined;
  readonly #log: Log;

  /** `nodes` is undefined if ClickHouse is the server `alone`. */
  constructor(
    alone: Clickhouse,
    { nodes, log }: { nodes: Pick<NodeDirectory, "answering" | "close"> | undefined; log: Log },
  ) {
    this.#alone = alone;
    this.#nodes = nodes;
    this.#log = log;
  }

  /**
   * Chooses a home. In a cluster it then has every row of the lane that was acknowledged before: an earlier owner may have written to another
   * replica. Call it after the epoch was raised, so that no older owner's next insert is acknowledged later. A lane without a shard gets one by
   * its number. @throws while no replica of the shard can be the home.
   */
  async open(
    asked: {
      readonly lane: number;
      readonly table: Table;
      readonly shard: string | null;
      readonly lastHome: string | null;
    },
    signal: AbortSignal,
  ): Promise<Home> {
    if (this.#nodes === undefined)
      return { name: null, shard: null, clickhouse: this.#alone, layout: "single" };
    const nodes = await this.#nodes.answering();
    const shard = asked.shard ?? shardOfLane(asked.lane, nodes);
    const replicas = nodes.filter((node) => node.shard === shard);
    const tables = [asked.table, "producer_claim"];
    const { home, node } =
      (await lastSynced(replicas, asked.lastHome, { tables, signal })) ??
      (await firstSynced(shard, replicas, { tables, signal }));
    return { name: home, shard, clickhouse: node, layout: "cluster" };
  }

  /** A server of each other shard that has what its replicas have. A shard without such a server is left out, and noted in the log. */
  async elsewhere(home: Home, table: Table, signal: AbortSignal): Promise<ShardServer[]> {
    if (this.#nodes === undefined) return [];
    const nodes = await this.#nodes.answering();
    const others = shardsOf(nodes).filter((shard) => shard !== home.shard);
    const servers = await Promise.all(
      others.map(async (shard) => {
        const replicas = nodes.filter((node) => node.shard === shard);
        try {
          const { node } = await firstSynced(shard, replicas, { tables: [table], signal });
          return [{ shard, clickhouse: node }];
        } catch (error) {
          // Lanes that do not need this shard go on. The others ask for it (`LaneRows.assertWhole`).
          this.#log.warn({ err: error, shard }, "clicks.shard-not-ready");
          return [];
        }
      }),
    );
    return servers.flat();
  }

  /**
   * Waits until every answering node of a shard has what was acknowledged there, so that each gives exact answers about a lane that leaves
   * the shard. @throws {Error} if a node does not get it
   */
  async settleShard(shard: string, table: Table, signal: AbortSignal): Promise<void> {
    const nodes = (await this.#nodes?.answering()) ?? [];
    await Promise.all(
      nodes
        .filter((node) => node.shard === shard)
        .map((node) => synced(node, { tables: [table], signal }, SYNC_MS)),
    );
  }

  /** Whether a node of the shard answers. */
  async hasShard(shard: string): Promise<boolean> {
    const nodes = (await this.#nodes?.answering()) ?? [];
    return nodes.some((node) => node.shard === shard);
  }

  async close(): Promise<void> {
    await this.#nodes?.close();
  }
}

function shardOfLane(lane: number, nodes: readonly AnsweringNode[]): string {
  const shards = shardsOf(nodes);
  return shards[lane % shards.length] ?? "";
}

type What = { readonly tables: readonly string[]; readonly signal: AbortSignal };

/** The last home, if it is among these nodes and has what the others have. */
async function lastSynced(
  nodes: readonly AnsweringNode[],
  lastHome: string | null,
  what: What,
): Promise<AnsweringNode | undefined> {
  const last = nodes.find(({ home }) => home === lastHome);
  if (last === undefined) return undefined;
  try {
    return await synced(last, what, SAME_HOME_MS);
  } catch {
    // All replicas are asked next, including this one. Their answers are reported.
    return undefined;
  }
}

async function firstSynced(
  shard: string,
  nodes: readonly AnsweringNode[],
  what: What,
): Promise<AnsweringNode> {
  try {
    return await Promise.any(nodes.map((node) => synced(node, what, SYNC_MS)));
  } catch (error) {
    throw new Error(`no ClickHouse node of shard ${shard} is ready`, { cause: error });
  }
}

/** The node, when it has what others have acknowledged. @throws if it does not get that in time */
async function synced(
  node: AnsweringNode,
  { tables, signal }: What,
  ms: number,
): Promise<AnsweringNode> {
  const query = (table: string): string => `system sync replica ${table} lightweight`;
  const all = Promise.all(
    tables.map((table) => node.node.command({ query: query(table), abort_signal: signal })),
  );
  if ((await within(ms, all)) === "late")
    throw new Error(`${node.home} did not get in ${ms} ms what the other replicas have`);
  return node;
}

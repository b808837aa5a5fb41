import { z } from "zod";
import type { Node } from "./ensure-everywhere.ts";
import { isClickhouseAway } from "./errors.ts";
import { REPLICATED_TABLES, replicaOf } from "./layout.ts";
import { shardOf } from "./node-directory.ts";
import { selectRows } from "./select.ts";

/** The answers of a node about the replicated tables that it has. */
const Known = z.object({
  table: z.string(),
  path: z.string(),
  /** Replicas of the same path, and whether they are connected to Keeper. */
  replicas: z.record(z.string(), z.int()),
});
type Known = z.infer<typeof Known>;
type Knowing = Node & { readonly tables: readonly Known[] };

const HOME = /^\w+-[\w-]+$/;

/** A replica that must not be dropped, or cannot be. */
export class ReplicaInUseError extends Error {
  override readonly name = "ReplicaInUseError";
}

export type DroppedReplica = {
  /** Tables whose replica Keeper no longer knows. */
  readonly dropped: readonly string[];
  /** Statements for tables that no answering node has: they need a user with all rights. */
  readonly left: readonly string[];
};

/** Whether this is `<shard>-<replica>`. */
export function isHome(text: string): boolean {
  return HOME.test(text);
}

/**
 * Makes Keeper forget the replica of a node that is lost with its disk, or has lost its disk. Until then no node can have its macros, and
 * inserts, which need answers of most replicas, count it among them. Safe to run twice.
 *
 * @throws {ReplicaInUseError} while a node with these macros has the tables, or Keeper takes it for connected.
 */
export async function dropReplica(nodes: readonly Node[], home: string): Promise<DroppedReplica> {
  const shard = shardOf(home);
  const place = { shard, replica: home.slice(shard.length + 1) };
  const knowing = await tablesOf(nodes);
  refuseInUse(knowing, home);
  const dropped: string[] = [];
  const left: string[] = [];
  const root = rootOf(knowing.flatMap(({ tables }) => tables));
  for (const table of REPLICATED_TABLES) {
    const { path, name, isShared } = replicaOf(table, place);
    const having = knowing.filter(({ tables }) => tables.some((known) => known.table === table));
    if (having.length === 0) continue;
    const helper = having.find((node) => isShared || shardOf(node.home ?? "") === shard);
    if (helper === undefined)
      left.push(`system drop replica '${name}' from zkpath '${root}/${path}'`);
    else if (stateOf(helper, table, name) !== undefined) {
      await helper.client.command({ query: `system drop replica '${name}' from table ${table}` });
      dropped.push(table);
    }
  }
  return { dropped, left };
}

/** The nodes that answer, with what they have. */
async function tablesOf(nodes: readonly Node[]): Promise<Knowing[]> {
  const text = `select table, zookeeper_path as path, replica_is_active as replicas from system.replicas
    where database = currentDatabase() order by table limit ${REPLICATED_TABLES.length}`;
  const knowing = await Promise.all(
    nodes.map(async (node) => {
      if (node.home === undefined) return [];
      try {
        const statement = { name: "drop-replica.replicas", text };
        return [{ ...node, tables: await selectRows(node.client, statement, Known) }];
      } catch (error) {
        if (isClickhouseAway(error)) return [];
        throw error;
      }
    }),
  );
  return knowing.flat();
}

function refuseInUse(knowing: readonly Knowing[], home: string): void {
  const named = knowing.find((node) => node.home === home);
  if (named !== undefined && named.tables.length > 0)
    throw new ReplicaInUseError(
      `the node ${named.host} has the macros ${home} and has tables: stop it, or give it other macros`,
    );
  const shard = shardOf(home);
  const place = { shard, replica: home.slice(shard.length + 1) };
  for (const node of knowing) {
    for (const { table } of node.tables) {
      const { name, isShared } = replicaOf(table, place);
      if (!isShared && shardOf(node.home ?? "") !== shard) continue;
      if (stateOf(node, table, name) === 1)
        throw new ReplicaInUseError(
          `Keeper takes the replica ${home} of ${table} for connected: its node runs, or ended less than a minute ago`,
        );
    }
  }
}

/** 1 if the replica is connected, 0 if it is not, undefined if Keeper does not know it. */
function stateOf(node: Knowing, table: string, name: string): number | undefined {
  return node.tables.find((known) => known.table === table)?.replicas[name];
}

/** The path of the installation in Keeper: each path of a table has the table's name in it. */
function rootOf(tables: readonly Known[]): string {
  const [known] = tables;
  if (known === undefined) return "/tracker/INSTALLATION";
  const { path, table } = known;
  return path.slice(0, path.lastIndexOf(`/${table}`));
}

import type { ClickhouseCluster, ClickhouseReader } from "./connect.ts";
import { DISTRIBUTED_TABLES } from "./layout.ts";

/** Tables whose rows are spread over the shards. */
type SpreadTable = (typeof DISTRIBUTED_TABLES)[number];
const SPREAD: ReadonlySet<string> = new Set(DISTRIBUTED_TABLES);
/** Something that knows whether there are shards. */
type Of = Pick<ClickhouseReader, "cluster">;

/**
 * What a statement selects from when it adds up the rows of all shards. Each shard answers from one replica; the shard of the asked node answers
 * from that node. So a statement that is sent to the home of a lane misses no row that the home has. Sent elsewhere, it may miss rows of the last
 * seconds. Any other table stays itself.
 */
export function allShards({ cluster }: Of, table: string): string {
  return cluster === undefined || !SPREAD.has(table) ? table : `${table}_all as ${table}`;
}

/**
 * What a statement selects from so that each shard runs `select` as a whole over its own rows. The select names its tables with
 * {@link tableOn}. All of its parts see one snapshot of a shard, which parts that read `click_all` would not. Each shard answers from one
 * replica, which may lack the clicks of the last seconds; `read-quorum.ts` lacks none.
 */
export function onEachShard({ name }: ClickhouseCluster, select: string): string {
  return `cluster('${name}', view(\n${indented(select)}\n))`;
}

/** A table of the node that runs a select as a whole: nodes have no current database there. */
export function tableOn(cluster: ClickhouseCluster | undefined, table: SpreadTable): string {
  if (cluster === undefined) return table;
  return `\`${cluster.database.replaceAll(/[\\`]/g, "\\$&")}\`.${table}`;
}

/** The fence of lanes of every node: each has its own. */
export function everyFence({ cluster }: Of): string {
  if (cluster === undefined) return "lane_fence";
  return `clusterAllReplicas('${cluster.name}', currentDatabase(), lane_fence)`;
}

/** Where an `alter table` of rows applies: to every shard. Each replica changes its own rows. */
export function onCluster({ cluster }: Of): string {
  return cluster === undefined ? "" : ` on cluster '${cluster.name}'`;
}

/** A table of `system` on all nodes. */
export function systemTable({ cluster }: Of, table: "parts" | "mutations"): string {
  if (cluster === undefined) return `system.${table}`;
  // A mutation is over when the last replica is done. Replicas of a shard have the same parts.
  const every = table === "mutations" ? "clusterAllReplicas" : "cluster";
  return `${every}('${cluster.name}', system.${table})`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}

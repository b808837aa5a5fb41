import { z } from "zod";
import type { ClickhouseReader } from "./connect.ts";
import { selectRows } from "./select.ts";

/** A replica that misses less is not behind: after an insert each one takes a moment. */
export const DELAY_SECONDS_MAX = 30;

const ClusterState = z.object({
  nodes: z.int(),
  answering: z.int(),
  readonlyTables: z.int(),
  delaySeconds: z.number(),
  readonlyNodes: z.int(),
  /** Nodes with a table that is more than `delaySecondsMax` behind. */
  nodesBehind: z.int(),
});
export type ClusterState = z.infer<typeof ClusterState>;

/** How all nodes of a cluster are, asked of one of them. Undefined for one engine without replicas. @throws what the driver throws. */
export async function readClusterState(
  clickhouse: ClickhouseReader,
  {
    timeoutMs,
    delaySecondsMax = DELAY_SECONDS_MAX,
  }: { readonly timeoutMs: number; readonly delaySecondsMax?: number },
): Promise<ClusterState | undefined> {
  if (clickhouse.cluster === undefined) return undefined;
  // Each replica is a shard of its own here. By host names, two nodes on hosts of one name would count as one.
  const text = `select (select count() from system.clusters where cluster = {cluster: String}) as nodes,
      (select uniqExact(shardNum()) from clusterAllReplicas({cluster: String}, system.clusters)) as answering,
      sum(is_readonly) as readonlyTables, max(absolute_delay) as delaySeconds,
      uniqExactIf(shardNum(), is_readonly) as readonlyNodes, uniqExactIf(shardNum(), absolute_delay > {delay: UInt32}) as nodesBehind
    from clusterAllReplicas({cluster: String}, system.replicas)
    where database = currentDatabase() settings skip_unavailable_shards = 1`;
  const params = { cluster: clickhouse.cluster.name, delay: delaySecondsMax };
  const statement = { name: "cluster.state", text, params, timeoutMs };
  const [state] = await selectRows(clickhouse, statement, ClusterState);
  return state;
}

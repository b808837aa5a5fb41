import { z } from "zod";
import type { ClickhouseReader } from "../../../../schemas/clickhouse/connect.ts";
import { selectRows } from "../../../../schemas/clickhouse/select.ts";

export type ClickhouseStatus = {
  readonly version: string;
  /** Undefined for one engine without replicas. */
  readonly cluster: z.infer<typeof Cluster> | undefined;
};

const Engine = z.object({ version: z.string() });
const Cluster = z.object({
  nodes: z.int(),
  answering: z.int(),
  readonlyTables: z.int(),
  delaySeconds: z.number(),
});

/** @throws what the driver throws. */
export async function askClickhouse(
  clickhouse: ClickhouseReader,
  timeoutMs: number,
): Promise<ClickhouseStatus> {
  const text = "select version() as version";
  const [engine] = await selectRows(clickhouse, { name: "status.engine", text, timeoutMs }, Engine);
  if (engine === undefined) throw new Error("ClickHouse returned no row for its version");
  if (clickhouse.cluster === undefined) return { version: engine.version, cluster: undefined };
  // Each replica is a shard of its own here. By host names, two nodes on hosts of one name would count as one.
  const nodes = `select (select count() from system.clusters where cluster = {cluster: String}) as nodes,
      (select uniqExact(shardNum()) from clusterAllReplicas({cluster: String}, system.clusters)) as answering, sum(is_readonly) as readonlyTables, max(absolute_delay) as delaySeconds
    from clusterAllReplicas({cluster: String}, system.replicas)
    where database = currentDatabase() settings skip_unavailable_shards = 1`;
  const params = { cluster: clickhouse.cluster.name };
  const [cluster] = await selectRows(
    clickhouse,
    { name: "status.cluster", text: nodes, params, timeoutMs },
    Cluster,
  );
  return { version: engine.version, cluster };
}

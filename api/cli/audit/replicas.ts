import { z } from "zod";
import { type AnsweringNode, shardsOf } from "../../../schemas/clickhouse/node-directory.ts";
import { pause } from "../../../schemas/host/pause.ts";
import { plural } from "../../workspace/system/status/status-line.ts";
import { type AuditContext, type Finding, found } from "./check.ts";

/** Replicas fetch what others have within seconds; one that lacks rows for longer does not catch up. */
const PATIENCE_MS = 15_000;
const POLL_MS = 1_000;

/** A month of a table on one node. */
const Month = z.object({ table: z.string(), partition: z.string(), rows: z.int() });
const MONTHS_QUERY = `select table, partition, sum(rows) as rows from system.parts
  where database = currentDatabase() and table in ('click', 'impression') and active
  group by table, partition order by table, partition`;

/** The replicas of each shard of a cluster have as many rows in each month. Replicas that do not answer are not compared. */
export async function auditReplicas(
  nodes: readonly AnsweringNode[],
  signal: AuditContext["signal"],
): Promise<Finding> {
  const endMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const details = await differencesOf(nodes);
    if (details.length === 0 || performance.now() > endMs)
      return found(`${plural(nodes.length, "node")} that answer`, details);
    await pause(POLL_MS, signal);
    signal.throwIfAborted();
  }
}

async function differencesOf(nodes: readonly AnsweringNode[]): Promise<string[]> {
  const details: string[] = [];
  for (const shard of shardsOf(nodes)) {
    const replicas = nodes.filter((node) => node.shard === shard);
    const months = new Map<string, Map<string, number>>();
    for (const replica of replicas)
      for (const { table, partition, rows } of await readMonths(replica)) {
        const month = `${table} of ${partition} on shard ${shard}`;
        months.set(month, (months.get(month) ?? new Map<string, number>()).set(replica.home, rows));
      }
    for (const [month, rows] of months) {
      const counts = replicas.map(({ home }) => rows.get(home) ?? 0);
      if (counts.every((count) => count === counts[0])) continue;
      const listed = replicas.map(({ home }, index) => `${counts[index] ?? 0} on ${home}`);
      details.push(
        `${month}: ${listed.join(", ")}. If it stays so, look at system.replication_queue of the node that has fewer.`,
      );
    }
  }
  return details;
}

async function readMonths({ node }: AnsweringNode): Promise<z.infer<typeof Month>[]> {
  const answer = await node.query({ query: MONTHS_QUERY, format: "JSONEachRow" });
  return z.array(Month).parse(await answer.json());
}

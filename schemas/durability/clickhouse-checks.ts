import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Clickhouse, ClickhouseReader } from "../clickhouse/connect.ts";
import { deduplicatedInsert } from "../clickhouse/deduplicated-insert.ts";
import { clickhouseCode, isClickhouseAway } from "../clickhouse/errors.ts";
import { selectRows } from "../clickhouse/select.ts";
import type { CheckGroup } from "./check-group.ts";
import type { Finding } from "./finding.ts";
import {
  type ClickhouseTable,
  judgeEngines,
  judgeRepeatedInsert,
  judgeReplicas,
} from "./judge-clickhouse.ts";

const Table = z.object({ name: z.string(), engine: z.string(), engineFull: z.string() });
const Setting = z.object({ name: z.string(), value: z.string() });
const Count = z.object({ stored: z.int() });
/** `node` is the number of the replica in `system.clusters`, counted from 1. */
const Replica = z.object({
  node: z.int(),
  table: z.string(),
  isReadonly: z.int().transform((flag) => flag === 1),
  totalReplicas: z.int(),
});
const Listed = z.object({ host: z.string() });
const Macros = z.object({ node: z.int(), shard: z.string(), replica: z.string() });

/** C1, and C3 of a cluster: for a process that reads. */
export function clickhouseTableChecks(clickhouse: ClickhouseReader): CheckGroup {
  return {
    checks: ["C1", "C3"],
    server: "ClickHouse",
    ask: async () => {
      const [tables, defaults] = await Promise.all([
        readTables(clickhouse),
        readDefaults(clickhouse),
      ]);
      const { cluster } = clickhouse;
      if (cluster === undefined)
        return [judgeEngines(tables, defaults, "single"), { check: "C3", faults: [] }];
      return [
        judgeEngines(tables, defaults, "cluster"),
        await askReplicas(clickhouse, cluster.name),
      ];
    },
    refusalOf: clickhouseRefusal,
  };
}

/** C2: for a process that writes clicks. */
export function clickhouseInsertCheck(clickhouse: Clickhouse): CheckGroup {
  return {
    checks: ["C2"],
    server: "ClickHouse",
    ask: async () => [judgeRepeatedInsert(await insertTwice(clickhouse))],
    refusalOf: clickhouseRefusal,
  };
}

export function clickhouseRefusal(error: unknown): string | undefined {
  if (isClickhouseAway(error)) return undefined;
  return clickhouseCode(error) || undefined;
}

async function readTables(clickhouse: ClickhouseReader): Promise<ClickhouseTable[]> {
  const text = `select name, engine, engine_full as engineFull from system.tables
    where database = currentDatabase()`;
  return await selectRows(clickhouse, { name: "durability.tables", text }, Table);
}

async function readDefaults(clickhouse: ClickhouseReader): Promise<Map<string, string>> {
  const text = `select name, value from system.merge_tree_settings
    where name like 'fsync%' or name like '%deduplication_window%'`;
  const rows = await selectRows(clickhouse, { name: "durability.defaults", text }, Setting);
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** Inserts one row twice under one token, as the click writer would after a lost answer. Returns how often it is stored. */
async function insertTwice(clickhouse: Clickhouse): Promise<number> {
  const trial = randomUUID();
  for (let time = 0; time < 2; time += 1) {
    await clickhouse.insert({
      table: "insert_trial",
      values: [{ trial }],
      format: "JSONEachRow",
      clickhouse_settings: deduplicatedInsert(trial),
    });
  }
  const text = "select count() as stored from insert_trial where trial = {trial: UUID}";
  const [row] = await selectRows(
    clickhouse,
    { name: "durability.trial", text, params: { trial } },
    Count,
  );
  return row?.stored ?? 0;
}

/** `clusterAllReplicas` numbers the nodes in the order of `system.clusters`. What a node calls itself may be the name of another one, too. */
async function askReplicas(clickhouse: ClickhouseReader, cluster: string): Promise<Finding> {
  const params = { cluster };
  const listed = await selectRows(
    clickhouse,
    {
      name: "durability.nodes",
      params,
      text: `select concat(host_name, ':', toString(port)) as host from system.clusters
        where cluster = {cluster: String} order by shard_num, replica_num`,
    },
    Listed,
  );
  const replicas = await selectRows(
    clickhouse,
    {
      name: "durability.replicas",
      params,
      text: `select shardNum() as node, table, is_readonly as isReadonly, total_replicas as totalReplicas
        from clusterAllReplicas({cluster: String}, system.replicas)
        where database = currentDatabase() order by node, table`,
    },
    Replica,
  );
  const nodes = await selectRows(
    clickhouse,
    {
      name: "durability.macros",
      params,
      text: `select shardNum() as node, anyIf(substitution, macro = 'shard') as shard,
          anyIf(substitution, macro = 'replica') as replica
        from clusterAllReplicas({cluster: String}, system.macros) group by node order by node`,
    },
    Macros,
  );
  const named = <Row extends { readonly node: number }>({ node, ...row }: Row) => ({
    ...row,
    host: listed[node - 1]?.host ?? `node ${node}`,
  });
  return judgeReplicas(replicas.map(named), nodes.map(named));
}

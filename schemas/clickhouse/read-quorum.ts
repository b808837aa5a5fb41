import type { ClickHouseSettings } from "@clickhouse/client";
import { z } from "zod";
import type { ClickhouseCluster, ClickhouseReader } from "./connect.ts";
import { QuorumError } from "./errors.ts";
import { selectRows } from "./select.ts";

/** A statement that each node runs over its own clicks. */
export type QuorumStatement = {
  /** `<process>.<operation>`: its name in the server's query log. */
  readonly name: string;
  /** A select that names its tables with `tableOn`. */
  readonly select: string;
  /** The columns of `select` that are read. */
  readonly columns: readonly string[];
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly settings?: ClickHouseSettings;
  /** A node that finds more rows is an error. */
  readonly rowsMax?: number;
};

/** A replica in `remote_servers` of the node that is asked. */
export type ListedReplica = { readonly shard: number; readonly host: string };
const ListedReplica = z
  .tuple([z.int(), z.string()])
  .transform(([shard, host]) => ({ shard, host }));

/** What a node says beside its rows. */
export type NodeAnswer = {
  /** Which of the listed replicas it was asked as, counted from 1. */
  readonly number: number;
  /** How many replicas it lists itself. */
  readonly replicas: number;
  /** It lacks clicks that are older than a minute. */
  readonly isBehind: boolean;
  /** It has more rows than may be read. */
  readonly isCut: boolean;
};
const NodeAnswer = z
  .tuple([z.int(), z.int(), z.int(), z.int()])
  .transform(([number, replicas, behind, cut]): NodeAnswer => {
    return { number, replicas, isBehind: behind !== 0, isCut: cut !== 0 };
  });

const Merged = z.looseObject({
  listed: z.array(ListedReplica),
  answers: z.array(NodeAnswer),
});
const Rows = z.object({ rows: z.array(z.array(z.unknown())) });

const ROWS_MAX = 100_000;
/** Longer than Keeper takes to notice that a replica is gone. Until then the other replicas cannot give up the parts that only that replica has. */
const BEHIND_SECONDS_MAX = 60;
/** A node that is away is left out quickly. A skipped node is silent, so {@link assertQuorum} counts the nodes that answered. */
const SKIP_AWAY: ClickHouseSettings = {
  skip_unavailable_shards: 1,
  connect_timeout_with_failover_ms: 250,
  handshake_timeout_ms: 1_000,
  connections_with_failover_max_tries: "1",
  // The values of a row stand in the order of its columns.
  output_format_json_named_tuples_as_objects: 0,
};

/**
 * Returns the rows of a select over every click that was acknowledged before. All replicas are asked, and a row comes once for each replica that has
 * it, in no order: the caller merges.
 *
 * It is exact because an insert is acknowledged when floor(R/2) + 1 of the R replicas of its shard have it (`insert_quorum = 'auto'`), and this
 * function demands answers of R - floor(R/2). Together these are more than R, so at least one replica is in both. A limit of the select must also be
 * a limit of the merged rows, so that no replica cuts a row that belongs in the result.
 *
 * Not covered:
 * - A replica that Keeper knows and `remote_servers` does not list. It counts for inserts, but not here.
 * - A replica that is new or has lost its disk. It is not counted while it lacks parts older than a minute. Clicks of the minute before it joined may
 *   be missing if the replicas that have them are away.
 * - Rows that are changed. Both versions come until all replicas have changed them.
 * - A node that hangs. It is not skipped while connections to it are open: the statement then ends at its time limit.
 *
 * @throws {QuorumError} when too few replicas of a shard answer. `isClickhouseAway` counts it as away.
 */
export async function selectFromQuorum<Row>(
  clickhouse: ClickhouseReader,
  statement: QuorumStatement,
  row: z.ZodType<Row>,
): Promise<Row[]> {
  const aggregates = "groupArrayArray(found) as rows";
  const { rows } = await aggregateFromQuorum(clickhouse, { ...statement, aggregates }, Rows);
  const { columns } = statement;
  return z
    .array(row)
    .parse(
      rows.map((values) =>
        Object.fromEntries(columns.map((column, index) => [column, values[index]])),
      ),
    );
}

/**
 * Aggregates over the rows of {@link selectFromQuorum}, made by the node that is asked. `aggregates` is a select list over `found`, which is the
 * array of tuples of `columns` that a node found.
 */
export async function aggregateFromQuorum<Aggregates>(
  clickhouse: ClickhouseReader,
  statement: QuorumStatement & { readonly aggregates: string },
  row: z.ZodType<Aggregates>,
): Promise<Aggregates> {
  const { cluster } = clickhouse;
  if (cluster === undefined) throw new Error("a server alone has no read quorum");
  const { name, params, timeoutMs, settings } = statement;
  const text = textOf(cluster, statement);
  const request = { name, text, params, timeoutMs, settings: { ...settings, ...SKIP_AWAY } };
  const [merged] = await selectRows(clickhouse, request, Merged);
  assertQuorum(cluster.name, merged ?? { listed: [], answers: [] });
  return row.parse(merged);
}

/** Replicas of a shard that must answer, of all that it has. */
export function answersNeeded(replicas: number): number {
  return replicas - Math.floor(replicas / 2);
}

/**
 * @throws {QuorumError} if too few replicas of a shard answered, or a node lists more replicas than the asked node.
 * @throws {Error} if the replicas that answered cannot be told apart, or one has more rows than may be read.
 */
export function assertQuorum(
  cluster: string,
  {
    listed,
    answers,
  }: { readonly listed: readonly ListedReplica[]; readonly answers: readonly NodeAnswer[] },
): void {
  const fault = (what: string): string => `the ClickHouse cluster ${cluster} ${what}`;
  const hosts = listed.map(({ host }) => host);
  if (hosts.length === 0)
    throw new Error(
      fault("is not in remote_servers: set CLICKHOUSE_CLUSTER to the name that is there"),
    );
  const twice = hosts.find((host, index) => hosts.indexOf(host) !== index);
  if (twice !== undefined)
    throw new Error(fault(`has ${twice} twice in remote_servers: list each replica once`));
  const upToDate = new Set<ListedReplica>();
  for (const { number, replicas, isBehind, isCut } of answers) {
    const replica = listed[number - 1];
    if (replica === undefined)
      throw new Error(fault(`sent an answer of replica ${number} of ${listed.length}`));
    const { host } = replica;
    if (isCut) throw new Error(fault(`has more rows on ${host} than may be read`));
    if (replicas > listed.length)
      throw new QuorumError(
        fault(
          `has ${replicas} replicas according to ${host}, and ${listed.length} according to the node that is asked: give both the same remote_servers`,
        ),
      );
    if (!isBehind) upToDate.add(replica);
  }
  for (const shard of new Set(listed.map((replica) => replica.shard))) {
    const replicas = listed.filter((replica) => replica.shard === shard);
    const missing = replicas.filter((replica) => !upToDate.has(replica));
    const needed = answersNeeded(replicas.length);
    if (replicas.length - missing.length < needed)
      throw new QuorumError(
        fault(
          `needs answers of ${needed} replicas of shard ${shard}; away or more than ${BEHIND_SECONDS_MAX} s behind: ${missing.map(({ host }) => host).join(", ")}`,
        ),
      );
  }
}

/**
 * The select has no keys, so each node answers with one row, also if it finds nothing. `clusterAllReplicas` makes each replica a shard of its own,
 * and numbers them in the order of `listed`. The asked node evaluates `listed`, a scalar subquery, for all nodes; what a node says of itself must not
 * be a scalar subquery.
 */
function textOf(
  { name, database }: ClickhouseCluster,
  {
    select,
    columns,
    aggregates,
    rowsMax = ROWS_MAX,
  }: QuorumStatement & { readonly aggregates: string },
): string {
  return `select (
    select groupArray((shard_num, host)) from (
      select shard_num, concat(host_name, ':', toString(port)) as host
      from system.clusters where cluster = '${name}' order by shard_num, replica_num
    )
  ) as listed, groupArray((number, replicas, is_behind, is_cut)) as answers, ${aggregates}
from clusterAllReplicas('${name}', view(
  select shardNum() as number, replicas, is_behind, is_cut, found
  from (
    select count() > ${rowsMax} as is_cut, groupArray(${rowsMax})(tuple(${columns.join(", ")})) as found
    from (${select})
  ) as clicks, (
    select count() as replicas from system.clusters where cluster = '${name}'
  ) as cluster, (
    select count() > 0 as is_behind from system.replicas
    where database = ${quoted(database)} and table = 'click' and (last_queue_update < toDateTime(1)
      or (inserts_in_queue > 0 and inserts_oldest_time < now() - ${BEHIND_SECONDS_MAX}))
  ) as copy
))`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}

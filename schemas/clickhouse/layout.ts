/**
 * The form of our ClickHouse statements in a cluster, derived from their form on a server alone. Migrations are written once, for a server
 * alone, and released files never change. This module refuses what it does not know: a table in the wrong place loses rows or shows them
 * twice, and nothing would report that.
 */

/** Where the statements of a cluster apply. */
export type ClusterPlace = {
  /** The cluster's name in `remote_servers`. */
  readonly cluster: string;
  /** Part of the paths in Keeper, so that several installations can share it. */
  readonly installation: string;
};

/**
 * Where the rows of a table are. `sharded`: on the replicas of one shard. `everywhere`: one replicated table over all nodes, so `final` meets
 * every version of a row, and no row is elsewhere when a shard is added. `local`: each node has its own.
 */
type Placement = "sharded" | "everywhere" | "local";

const PLACEMENTS: ReadonlyMap<string, Placement> = new Map([
  ["click", "sharded"],
  ["impression", "sharded"],
  ["insert_trial", "sharded"],
  ["conversion_fact", "everywhere"],
  ["ad_cost_fact", "everywhere"],
  ["fact_mark", "everywhere"],
  ["installation_mark", "everywhere"],
  ["producer_claim", "everywhere"],
  ["schema_migration", "everywhere"],
  ["lane_fence", "local"],
]);

/** Tables that are read over all shards, each through a table named `<name>_all`. Their inserts are repeated until they are acknowledged. */
export const DISTRIBUTED_TABLES = ["click", "impression"] as const;

/** Tables that Keeper keeps the same on several nodes. */
export const REPLICATED_TABLES: readonly string[] = [...PLACEMENTS].flatMap(([table, placement]) =>
  placement === "local" ? [] : [table],
);

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CREATE =
  /^create table if not exists (\w+)\s*\((.*)\)\s*engine = (\w+)(\([\w, ]*\))?\s+(.*)$/s;
const ALTER = /^alter table (\w+)\s+(.*)$/s;
/** Changes that may be repeated and are the same on every node, or that each replica makes for itself. */
const CHANGE =
  /^(?:modify setting|modify column|add column if not exists|add projection if not exists|drop projection if exists|materialize projection)\s/;
/** A further setting of `modify setting`. */
const SETTING = /^\w+ = \S+$/;
const ENGINES = new Set(["MergeTree", "ReplacingMergeTree"]);
/** What follows the engine: a sorting key, with a partition before it and a lifetime and settings after it. */
const END =
  /^(?:partition by [^;]+?\s+)?order by [^;]+?(?:\s+ttl [^;]+?)?(?:\s*settings ([^;]+))?$/s;

const ALONE_WINDOW = /\bnon_replicated_deduplication_window = \d+/;
/** Repeated inserts of clicks are known for a day, and ten times as many as on a server alone (C1). */
const CLICK_WINDOW =
  "replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 86400";
/** A repaired row may equal one that was stored an hour ago and deleted since. Repeated rows of these tables do no harm. */
const NO_WINDOW = "replicated_deduplication_window = 0";

/** The cluster form of a statement of a migration. @throws for a statement or a table that it does not know. */
export function clusterForm(statement: string, place: ClusterPlace): string {
  assertNames(place);
  const created = CREATE.exec(statement);
  if (created !== null) return clusterTable(created, place);
  const [, table, change] = ALTER.exec(statement) ?? [];
  if (table === undefined || change === undefined || !commandsOf(change).every(isKnown))
    throw new Error(`no cluster form is known of the statement: ${statement.slice(0, 200)}`);
  placementOf(table);
  return `alter table ${table} on cluster '${place.cluster}'\n  ${clusterSettings(change)}`;
}

/**
 * How Keeper knows the replica of a node: its path below the installation's path, and its name. `isShared`: the replicas of all shards have
 * the same path.
 */
export function replicaOf(
  table: string,
  node: { readonly shard: string; readonly replica: string },
): { readonly path: string; readonly name: string; readonly isShared: boolean } {
  const isShared = placementOf(table) === "everywhere";
  return isShared
    ? { path: table, name: `${node.shard}-${node.replica}`, isShared }
    : { path: `${table}/${node.shard}`, name: node.replica, isShared };
}

/** The statement that makes the table over all shards, or gives it the present columns. It has no rows of its own. */
export function distributedTable(
  table: (typeof DISTRIBUTED_TABLES)[number],
  place: ClusterPlace,
): string {
  assertNames(place);
  return `create or replace table ${table}_all on cluster '${place.cluster}' as ${table}
engine = Distributed('${place.cluster}', currentDatabase(), '${table}', _lane)`;
}

function isKnown(command: string, index: number, commands: readonly string[]): boolean {
  const isSetting = index > 0 && commands[0]?.startsWith("modify setting ") === true;
  return isSetting ? SETTING.test(command) : CHANGE.test(command);
}

/** The commands of an `alter table`, which commas separate outside of parentheses. */
function commandsOf(change: string): string[] {
  const commands = [""];
  let depth = 0;
  for (const character of change) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth === 0) commands.push("");
    else commands.push(`${commands.pop() ?? ""}${character}`);
  }
  return commands.map((command) => command.trim());
}

function clusterTable(
  [, table = "", columns = "", engine = "", args = "", end = ""]: RegExpExecArray,
  { cluster, installation }: ClusterPlace,
): string {
  const placement = placementOf(table);
  const settings = END.exec(end);
  if (!ENGINES.has(engine) || settings === null)
    throw new Error(`no cluster form is known of the engine of the table ${table}`);
  const head = `create table if not exists ${table} on cluster '${cluster}'\n(${columns})\n`;
  if (placement === "local") return `${head}engine = ${engine}${args}\n${end}`;
  const path = `/tracker/${installation}/${table}`;
  const replica =
    placement === "sharded" ? `'${path}/{shard}', '{replica}'` : `'${path}', '{shard}-{replica}'`;
  const more = args === "" ? "" : `, ${args.slice(1, -1)}`;
  return `${head}engine = Replicated${engine}(${replica}${more})\n${endOf(placement, end, settings[1])}`;
}

function endOf(placement: Placement, end: string, settings: string | undefined): string {
  if (placement === "sharded") {
    if (settings === undefined || !ALONE_WINDOW.test(settings))
      throw new Error(
        "a sharded table must remember its inserts: non_replicated_deduplication_window",
      );
    return clusterSettings(end);
  }
  return settings === undefined ? `${end}\nsettings ${NO_WINDOW}` : `${end}, ${NO_WINDOW}`;
}

function clusterSettings(text: string): string {
  return text.replace(ALONE_WINDOW, CLICK_WINDOW);
}

function placementOf(table: string): Placement {
  const placement = PLACEMENTS.get(table);
  if (placement === undefined)
    throw new Error(`schemas/clickhouse/layout.ts does not say where a cluster keeps ${table}`);
  return placement;
}

function assertNames({ cluster, installation }: ClusterPlace): void {
  for (const name of [cluster, installation])
    if (!NAME.test(name)) throw new Error(`not a name for a cluster or an installation: ${name}`);
}

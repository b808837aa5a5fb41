import { z } from "zod";
import type { Clickhouse } from "./connect.ts";
import { clickhouseCode } from "./errors.ts";
import { selectRows } from "./select.ts";

/** A node of a cluster, with a client of its database. */
export type Node = {
  readonly host: string;
  /** `<shard>-<replica>` of its macros; undefined while it does not answer. */
  readonly home: string | undefined;
  readonly client: Clickhouse;
};

/** The definitions of a table by the hosts that have it. */
type Table = { readonly name: string; readonly onHosts: ReadonlyMap<string, string> };

const Defined = z.object({ name: z.string(), definition: z.string() });
const CREATE_TABLE = /^CREATE TABLE /;
/** More tables than any release has. */
const TABLES_MAX = 1_000;
/** Keeper knows a replica of this name already. */
const REPLICA_EXISTS = "253";

/**
 * Makes every table that another node of the database has and a node lacks, as a new or rebuilt node does. Replicated tables then fetch their
 * rows by themselves. Returns what was made, as `table on host`. Safe to run twice.
 *
 * Nodes that have a table need not agree on it: a migration that was interrupted makes them agree when it is repeated.
 *
 * @throws if nodes define a table in two ways that another node lacks, and if Keeper still knows the replica of a node that lost its tables.
 */
export async function makeMissingTables(nodes: readonly Node[]): Promise<string[]> {
  const tables = await readTables(nodes);
  const lacked = tables.filter(({ onHosts }) => onHosts.size < nodes.length);
  refuseTwoWays(lacked);
  const made: string[] = [];
  for (const node of nodes) {
    for (const { name, onHosts } of lacked) {
      if (onHosts.has(node.host)) continue;
      const [definition = ""] = onHosts.values();
      await makeTable(node, name, definition);
      made.push(`${name} on ${node.host}`);
    }
  }
  return made;
}

/** {@link makeMissingTables}. @throws also if a table is defined in two ways: nobody can say which definition is right. */
export async function ensureEverywhere(nodes: readonly Node[]): Promise<string[]> {
  refuseTwoWays(await readTables(nodes));
  return await makeMissingTables(nodes);
}

async function makeTable(
  { host, home, client }: Node,
  name: string,
  definition: string,
): Promise<void> {
  try {
    await client.command({
      query: definition.replace(CREATE_TABLE, "CREATE TABLE IF NOT EXISTS "),
    });
  } catch (error) {
    if (clickhouseCode(error) !== REPLICA_EXISTS) throw error;
    throw new Error(
      `the ClickHouse node ${host} has lost the table ${name}, and Keeper still knows its replica: run \`tracker clickhouse drop-replica ${home ?? "SHARD-REPLICA"}\`, then \`tracker migrate\` again`,
      { cause: error },
    );
  }
}

function refuseTwoWays(tables: readonly Table[]): void {
  const differing = tables.flatMap(({ name, onHosts }) => {
    const [[first, definition] = ["", ""], ...others] = onHosts;
    return others
      .filter(([, other]) => other !== definition)
      .map(([host]) => `${name} on ${first} and on ${host}`);
  });
  if (differing.length > 0)
    throw new Error(
      `ClickHouse tables are defined in two ways: ${differing.join(", ")}. Drop the wrong one if it has no rows, or alter it, then run \`tracker migrate\` again`,
    );
}

/** All tables. Their definitions have the macros of a replica by name, so they are the same on all nodes. */
async function readTables(nodes: readonly Node[]): Promise<Table[]> {
  const text = `select name, create_table_query as definition from system.tables
    where database = currentDatabase() and not is_temporary and not startsWith(name, '.inner')
    order by engine = 'Distributed', name limit ${TABLES_MAX}`;
  const known = await Promise.all(
    nodes.map(({ client }) => selectRows(client, { name: "migrate.definitions", text }, Defined)),
  );
  const tables = new Map<string, Map<string, string>>();
  for (const [index, definitions] of known.entries()) {
    for (const { name, definition } of definitions) {
      const onHosts = tables.get(name) ?? new Map<string, string>();
      tables.set(name, onHosts.set(nodes[index]?.host ?? "", definition));
    }
  }
  return [...tables].map(([name, onHosts]) => ({ name, onHosts }));
}

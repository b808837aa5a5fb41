import { z } from "zod";
import type { Clickhouse } from "./connect.ts";
import { selectRows } from "./select.ts";

/** A node of a cluster, with a client of its database. */
export type Node = { readonly host: string; readonly client: Clickhouse };

type Definitions = ReadonlyMap<string, string>;

const Table = z.object({ name: z.string(), definition: z.string() });
const CREATE_TABLE = /^CREATE TABLE /;
/** More tables than any release has. */
const TABLES_MAX = 1_000;

/**
 * Makes every table that another node of the database has and a node lacks, as a new or rebuilt node does. Replicated tables then fetch their
 * rows by themselves. Returns what was made, as `table on host`. Safe to run twice.
 *
 * @throws if a table is defined in two ways: nobody can say which of them is right.
 */
export async function ensureEverywhere(nodes: readonly Node[]): Promise<string[]> {
  const known = await Promise.all(nodes.map(({ client }) => readDefinitions(client)));
  const reference = new Map<string, { readonly definition: string; readonly host: string }>();
  const differing: string[] = [];
  for (const [index, definitions] of known.entries()) {
    const host = nodes[index]?.host ?? "";
    for (const [name, definition] of definitions) {
      const first = reference.get(name);
      if (first === undefined) reference.set(name, { definition, host });
      else if (first.definition !== definition)
        differing.push(`${name} on ${first.host} and on ${host}`);
    }
  }
  if (differing.length > 0)
    throw new Error(
      `ClickHouse tables are defined in two ways: ${differing.join(", ")}. Drop the wrong one if it has no rows, or alter it, then run \`tracker migrate\` again`,
    );
  const made: string[] = [];
  for (const [index, { client, host }] of nodes.entries()) {
    for (const [name, { definition }] of reference) {
      if (known[index]?.has(name) === true) continue;
      const query = definition.replace(CREATE_TABLE, "CREATE TABLE IF NOT EXISTS ");
      await client.command({ query });
      made.push(`${name} on ${host}`);
    }
  }
  return made;
}

/** Tables by name. Their definitions have the macros of a replica by name, so they are the same on all nodes. */
async function readDefinitions(client: Clickhouse): Promise<Definitions> {
  const text = `select name, create_table_query as definition from system.tables
    where database = currentDatabase() and not is_temporary and not startsWith(name, '.inner')
    order by engine = 'Distributed', name limit ${TABLES_MAX}`;
  const tables = await selectRows(client, { name: "migrate.definitions", text }, Table);
  return new Map(tables.map(({ name, definition }) => [name, definition]));
}

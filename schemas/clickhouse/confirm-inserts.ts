import type { Node } from "./ensure-everywhere.ts";
import { isClickhouseAway } from "./errors.ts";
import { DISTRIBUTED_TABLES } from "./layout.ts";

/** A large table is copied for hours; nobody waits for that. */
const COPIED_S_MAX = 300;

/**
 * After tables were made on a node (`table on host`): waits until the node has the rows, and tells Keeper of them. An insert that a single replica
 * had when the others were lost waits for a second replica, and so does its lane, which repeats it. A new replica copies the part of the insert
 * without confirming it, and confirms it when it connects to Keeper anew.
 *
 * Returns what still copies rows after {@link COPIED_S_MAX} seconds.
 */
export async function confirmInserts(
  nodes: readonly Node[],
  made: readonly string[],
): Promise<string[]> {
  const behind: string[] = [];
  for (const { host, client } of nodes) {
    for (const table of DISTRIBUTED_TABLES) {
      if (!made.includes(`${table} on ${host}`)) continue;
      try {
        await client.command({
          query: `system sync replica ${table}`,
          clickhouse_settings: { receive_timeout: COPIED_S_MAX },
        });
      } catch (error) {
        if (!isClickhouseAway(error)) throw error;
        behind.push(`${table} on ${host}`);
        continue;
      }
      await client.command({ query: `system restart replica ${table}` });
    }
  }
  return behind;
}
